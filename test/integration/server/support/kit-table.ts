/**
 * Every mandatory test of the official A2A conformance kit (a2aproject/a2a-tck) by its name, and the tests here that show
 * the same, or why it does not apply to this server. kit.test.ts checks that those tests are there and run; where the kit
 * is installed, also that no test of it is missing, and runs it.
 */
interface Shown {
  /** In test/integration/server. */
  file: string;
  /** The whole name of the test, as it is written there; of a table `envelope: %s`, with the row's name. */
  test: string;
}
type Proof = readonly Shown[] | { notHere: string };

const here = (test: string): Shown => ({ file: 'conformance.test.ts', test });

const CARD1 = here('card: of 1.0 at its path, strict, with interfaces of all transports and versions');
const CARD3 = here('card: of 0.3 for who asks for it, and at the older path');
const EXT = here('extended card: there is none, and that is said ($name)');
const BLOCK = here('send: a blocking message returns the task at its end, with its artifacts');
const ATONCE = here('send: a message that must not block returns at once');
const QUESTION = here('send: a question is answered with a message, without a task');
const MEDIA = here('send: a media type that is not supported');
const NOTHING = here('send: requests that say nothing usable');
const CONTEXT = here('context: generated, kept, the same for a task; a mismatch is refused');
const TURNS = here('turns: a task that waits goes on with the answer, its history kept');
const ENDED = here('ended: a task that ended takes no message, no cancel and no subscriber');
const UNKNOWN = here('unknown: a task that is not there');
const CANCEL = here('cancel: a task that waits, and one that works');
const STREAM = here('stream: the task first, then each status, the artifacts before the last');
const STREAM_MESSAGE = here('stream: a message in place of a task is the only event');
const SUBSCRIBE = here('subscribe: the task first, then the same for every subscriber, to its end');
const LEAVES = here('subscribe: one that leaves ends nothing for the others');
const LIST = here('list: by context and status, newest change first, in pages');
const LIST_ARTIFACTS = here('list: artifacts only when asked for');
const VERSION = here('version: another one is refused by name; a patch version is not looked at');
const NO_VERSION = here('version: an empty one is 0.3');
const EXTENSIONS = here('extensions: a header that names unknown ones is no error');
const PUSH_CONFIGS = here('push: configurations are made, read, listed and removed');
const PUSH_TOLD = here('push: each change is told to the webhook, with its credentials, to the end');
const NOT_JSON = here('envelope: not JSON');
const ANOTHER = here('envelope: another jsonrpc');
const NO_METHOD = here('envelope: no method');
const ID = here('envelope: an object as id');
const METHOD = here('envelope: an unknown method');
const PARAMS = here('envelope: params that are a text');
const TYPE = here('envelope: another content type');
const TWICE = here('envelope: two requests of one id are two requests');
const OLD = here('0.3: message/send, tasks/get, tasks/cancel and history over JSON-RPC');
const OLD_REST = here('0.3: HTTP+JSON under /v1');

const GRPC = { notHere: 'no gRPC interface is declared in the card' };
const NO_PUSH = { notHere: 'for agents without push notifications; ours has them' };
const NO_STREAMING = { notHere: 'for agents without streaming; ours has it' };
const REQUIRED = { notHere: 'for agents that require an extension; ours requires none' };
const FILES = { notHere: 'reports are texts and data, not files' };

/** Branch 1.0-dev, tests marked `must`, each for all transports: file, class, test, and requirement where it is one of many. */
export const KIT_1_0: Record<string, Proof> = {
  'agent_card/test_agent_card.py::TestAgentCardDiscovery::test_agent_card_retrievable': [CARD1],
  'agent_card/test_agent_card.py::TestAgentCardProtocol::test_each_interface_validates_against_schema': [CARD1],
  'agent_card/test_agent_card.py::TestAgentCardProtocol::test_supported_interfaces_non_empty': [CARD1],
  'agent_card/test_agent_card.py::TestAgentCardStructure::test_agent_card_validates_against_schema': [CARD1],
  'agent_card/test_agent_card.py::TestAgentCardStructure::test_required_fields_present': [CARD1],
  'agent_card/test_agent_card.py::TestBindingFieldDeclaration::test_all_protocols_declared': [CARD1],
  'core_operations/test_artifacts.py::TestDataArtifact::test_task_has_data_artifact': [BLOCK],
  'core_operations/test_artifacts.py::TestFileArtifact::test_task_has_file_artifact': FILES,
  'core_operations/test_artifacts.py::TestFileUrlArtifact::test_task_has_file_url_artifact': FILES,
  'core_operations/test_artifacts.py::TestMessageResponse::test_returns_message_with_text_part': [
    QUESTION,
    STREAM_MESSAGE,
  ],
  'core_operations/test_artifacts.py::TestTextArtifact::test_task_has_text_artifact': [BLOCK],
  'core_operations/test_data_model.py::TestCamelCaseFieldNames::test_no_snake_case_keys': [BLOCK],
  'core_operations/test_data_model.py::TestEnumSerialization::test_enum_values_are_strings': [BLOCK],
  'core_operations/test_data_model.py::TestSendMessageResponseSchema::test_response_validates_against_schema': [BLOCK],
  'core_operations/test_data_model.py::TestTimestampFormat::test_timestamps_are_iso8601_utc': [BLOCK],
  'core_operations/test_error_handling.py::TestCapabilityExtendedCard::test_extended_card_not_supported_jsonrpc': [EXT],
  'core_operations/test_error_handling.py::TestCapabilityExtensionRequired::test_missing_required_extension_returns_error_http_json':
    REQUIRED,
  'core_operations/test_error_handling.py::TestCapabilityExtensionRequired::test_missing_required_extension_returns_error_jsonrpc':
    REQUIRED,
  'core_operations/test_error_handling.py::TestCapabilityPushNotifications::test_push_not_supported_jsonrpc': NO_PUSH,
  'core_operations/test_error_handling.py::TestCapabilityPushNotifications::test_push_not_supported_rest': NO_PUSH,
  'core_operations/test_error_handling.py::TestCapabilityStreaming::test_streaming_not_supported_jsonrpc': NO_STREAMING,
  'core_operations/test_error_handling.py::TestCoreErrorStructure::test_error_has_code_and_message_jsonrpc': [UNKNOWN],
  'core_operations/test_error_handling.py::TestCoreErrorStructure::test_error_has_code_and_message_rest': [UNKNOWN],
  'core_operations/test_error_handling.py::TestCoreInputValidation::test_malformed_request_rejected_jsonrpc': [NOTHING],
  'core_operations/test_error_handling.py::TestCoreInputValidation::test_malformed_request_rejected_rest': [NOTHING],
  'core_operations/test_error_handling.py::TestGrpcErrorStructure::test_grpc_error_for_nonexistent_task': GRPC,
  'core_operations/test_error_handling.py::TestJsonRpcErrorStructure::test_a2a_error_codes_in_range': [UNKNOWN, ENDED],
  'core_operations/test_error_handling.py::TestJsonRpcErrorStructure::test_a2a_error_type_mappings': [UNKNOWN, ENDED],
  'core_operations/test_error_handling.py::TestJsonRpcErrorStructure::test_error_data_contains_error_info': [UNKNOWN],
  'core_operations/test_error_handling.py::TestJsonRpcErrorStructure::test_error_object_structure': [UNKNOWN],
  'core_operations/test_error_handling.py::TestRestErrorStructure::test_a2a_error_info_in_details': [UNKNOWN],
  'core_operations/test_error_handling.py::TestRestErrorStructure::test_error_uses_aip193_format': [UNKNOWN],
  'core_operations/test_error_handling.py::TestVersionErrors::test_empty_version_treated_as_default_jsonrpc': [
    NO_VERSION,
  ],
  'core_operations/test_error_handling.py::TestVersionErrors::test_unsupported_version_returns_error_jsonrpc': [
    VERSION,
  ],
  'core_operations/test_error_handling.py::TestVersionErrors::test_unsupported_version_returns_error_rest': [VERSION],
  'core_operations/test_multi_stream.py::TestMultiStreamOrdering::test_closing_one_stream_does_not_affect_others': [
    LEAVES,
  ],
  'core_operations/test_multi_stream.py::TestMultiStreamOrdering::test_events_broadcast_to_all_streams': [SUBSCRIBE],
  'core_operations/test_multi_stream.py::TestMultiStreamOrdering::test_streams_receive_same_events_in_order': [
    SUBSCRIBE,
  ],
  'core_operations/test_push_notifications.py::TestPushNotificationCrud::test_config_persists': [PUSH_CONFIGS],
  'core_operations/test_push_notifications.py::TestPushNotificationCrud::test_create_push_config': [PUSH_CONFIGS],
  'core_operations/test_push_notifications.py::TestPushNotificationCrud::test_delete_is_idempotent': [PUSH_CONFIGS],
  'core_operations/test_push_notifications.py::TestPushNotificationCrud::test_delete_push_config': [PUSH_CONFIGS],
  'core_operations/test_push_notifications.py::TestPushNotificationCrud::test_get_nonexistent_config_returns_error': [
    PUSH_CONFIGS,
  ],
  'core_operations/test_push_notifications.py::TestPushNotificationCrud::test_get_push_config': [PUSH_CONFIGS],
  'core_operations/test_push_notifications.py::TestPushNotificationCrud::test_list_push_configs': [PUSH_CONFIGS],
  'core_operations/test_push_notifications.py::TestPushNotificationDelivery::test_delivery_at_least_once': [PUSH_TOLD],
  'core_operations/test_push_notifications.py::TestPushNotificationDelivery::test_delivery_includes_auth': [PUSH_TOLD],
  'core_operations/test_push_notifications.py::TestPushNotificationDelivery::test_delivery_payload_format': [PUSH_TOLD],
  'core_operations/test_requirements.py::test_must_requirement[CARD-EXT-001]': [EXT],
  'core_operations/test_requirements.py::test_must_requirement[CARD-EXT-002]': [EXT],
  'core_operations/test_requirements.py::test_must_requirement[CORE-CANCEL-003]': [UNKNOWN],
  'core_operations/test_requirements.py::test_must_requirement[CORE-EXECUTION-MODE-001]': [BLOCK],
  'core_operations/test_requirements.py::test_must_requirement[CORE-EXECUTION-MODE-002]': [ATONCE],
  'core_operations/test_requirements.py::test_must_requirement[CORE-GET-002]': [UNKNOWN],
  'core_operations/test_requirements.py::test_must_requirement[CORE-LIST-001]': [LIST],
  'core_operations/test_requirements.py::test_must_requirement[CORE-LIST-002]': [LIST],
  'core_operations/test_requirements.py::test_must_requirement[CORE-LIST-003]': [LIST],
  'core_operations/test_requirements.py::test_must_requirement[CORE-LIST-004]': [LIST],
  'core_operations/test_requirements.py::test_must_requirement[CORE-LIST-005]': [LIST_ARTIFACTS],
  'core_operations/test_requirements.py::test_must_requirement[CORE-MULTI-001a]': [CONTEXT],
  'core_operations/test_requirements.py::test_must_requirement[CORE-MULTI-002a]': [CONTEXT],
  'core_operations/test_requirements.py::test_must_requirement[CORE-MULTI-003]': [CONTEXT],
  'core_operations/test_requirements.py::test_must_requirement[CORE-MULTI-004]': [UNKNOWN],
  'core_operations/test_requirements.py::test_must_requirement[CORE-SEND-001]': [BLOCK, QUESTION],
  'core_operations/test_requirements.py::test_must_requirement[CORE-SEND-003]': [MEDIA],
  'core_operations/test_requirements.py::test_must_requirement[CORE-STREAM-001]': [STREAM],
  'core_operations/test_requirements.py::test_must_requirement[CORE-STREAM-002]': [STREAM_MESSAGE],
  'core_operations/test_requirements.py::test_must_requirement[CORE-STREAM-003]': [STREAM],
  'core_operations/test_requirements.py::test_must_requirement[STREAM-SUB-004]': [UNKNOWN],
  'core_operations/test_stream_ordering.py::TestStreamEventOrdering::test_streaming_event_ordering': [STREAM],
  'core_operations/test_task_history.py::TestHistoryLengthLimit::test_get_task_history_does_not_exceed_limit': [TURNS],
  'core_operations/test_task_lifecycle.py::TestCancelTask::test_cancel_task_returns_updated_state': [CANCEL],
  'core_operations/test_task_lifecycle.py::TestCancelTask::test_cancel_terminal_task_returns_error': [ENDED],
  'core_operations/test_task_lifecycle.py::TestGetTask::test_get_task_returns_current_state': [TURNS],
  'core_operations/test_task_lifecycle.py::TestMultiTurn::test_infer_context_from_task': [CONTEXT],
  'core_operations/test_task_lifecycle.py::TestMultiTurn::test_reject_mismatching_context': [CONTEXT],
  'core_operations/test_task_lifecycle.py::TestMultiTurn::test_send_message_to_terminal_task': [ENDED],
  'core_operations/test_task_lifecycle.py::TestSubscribeLifecycle::test_subscribe_rejects_terminal_task': [ENDED],
  'core_operations/test_task_lifecycle.py::TestSubscribeLifecycle::test_subscribe_terminates_at_terminal_state': [
    SUBSCRIBE,
  ],
  'core_operations/test_transport_behavior.py::TestGrpcProto3::test_response_uses_proto3': GRPC,
  'core_operations/test_transport_behavior.py::TestGrpcService::test_grpc_response_validates_against_proto': GRPC,
  'core_operations/test_transport_behavior.py::TestGrpcServiceParams::test_extensions_metadata_accepted': GRPC,
  'core_operations/test_transport_behavior.py::TestGrpcStreaming::test_grpc_streaming_works': GRPC,
  'core_operations/test_transport_behavior.py::TestJsonRpcFormat::test_content_type_is_application_json': [BLOCK],
  'core_operations/test_transport_behavior.py::TestJsonRpcFormat::test_response_validates_jsonrpc_envelope': [
    BLOCK,
    UNKNOWN,
  ],
  'core_operations/test_transport_behavior.py::TestJsonRpcMethodNames::test_bindings_use_spec_method_names': [
    BLOCK,
    LIST,
    CANCEL,
    PUSH_CONFIGS,
  ],
  'core_operations/test_transport_behavior.py::TestJsonRpcServiceParams::test_extensions_header_accepted': [EXTENSIONS],
  'core_operations/test_transport_behavior.py::TestJsonRpcStreaming::test_streaming_content_type': [STREAM],
  'core_operations/test_transport_behavior.py::TestRestFormat::test_response_content_type': [BLOCK],
  'core_operations/test_transport_behavior.py::TestRestFormat::test_response_validates_against_schema': [BLOCK],
  'core_operations/test_transport_behavior.py::TestRestQueryParams::test_query_params_are_camel_case': [LIST],
  'core_operations/test_transport_behavior.py::TestRestServiceParams::test_extensions_header_accepted': [EXTENSIONS],
  'core_operations/test_transport_behavior.py::TestRestStreaming::test_streaming_content_type': [STREAM],
  'core_operations/test_transport_behavior.py::TestRestUrlPatterns::test_http_methods_correct': [
    BLOCK,
    LIST,
    CANCEL,
    PUSH_CONFIGS,
  ],
  'core_operations/test_transport_behavior.py::TestRestUrlPatterns::test_url_patterns_defined': [
    BLOCK,
    LIST,
    CANCEL,
    PUSH_CONFIGS,
  ],
  'grpc/test_status_codes.py::TestGrpcErrorInfo::test_error_info_in_status_details': GRPC,
  'grpc/test_status_codes.py::TestGrpcStatusCodes::test_push_not_supported_returns_unimplemented': GRPC,
  'grpc/test_status_codes.py::TestGrpcStatusCodes::test_task_not_cancelable_returns_failed_precondition': GRPC,
  'grpc/test_status_codes.py::TestGrpcStatusCodes::test_task_not_found_returns_not_found': GRPC,
  'grpc/test_status_codes.py::TestGrpcStatusCodes::test_unsupported_operation_returns_unimplemented': GRPC,
  'grpc/test_status_codes.py::TestGrpcStatusCodes::test_version_not_supported_returns_unimplemented': GRPC,
  'grpc/test_streaming.py::TestGrpcStreaming::test_streaming_cancellation': GRPC,
  'grpc/test_streaming.py::TestGrpcStreaming::test_streaming_error_propagation': GRPC,
  'grpc/test_streaming.py::TestGrpcStreaming::test_streaming_message_structure': GRPC,
  'grpc/test_streaming.py::TestGrpcStreaming::test_streaming_response_type': GRPC,
  'grpc/test_streaming.py::TestGrpcStreaming::test_subscribe_first_event_is_task': GRPC,
  'http_json/test_http_status.py::TestHttpJsonStatusCodes::test_content_type_not_supported_returns_415': [MEDIA, TYPE],
  'http_json/test_http_status.py::TestHttpJsonStatusCodes::test_push_not_supported_returns_400': NO_PUSH,
  'http_json/test_http_status.py::TestHttpJsonStatusCodes::test_success_returns_2xx': [BLOCK],
  'http_json/test_http_status.py::TestHttpJsonStatusCodes::test_task_not_cancelable_returns_409': [ENDED],
  'http_json/test_http_status.py::TestHttpJsonStatusCodes::test_task_not_found_returns_404': [UNKNOWN],
  'http_json/test_http_status.py::TestHttpJsonStatusCodes::test_unsupported_operation_returns_400': [ENDED],
  'http_json/test_http_status.py::TestHttpJsonStatusCodes::test_version_not_supported_returns_400': [VERSION],
  'http_json/test_problem_details.py::TestAIP193ErrorFormat::test_code_field_matches_http_status': [UNKNOWN],
  'http_json/test_problem_details.py::TestAIP193ErrorFormat::test_error_content_type': [UNKNOWN],
  'http_json/test_problem_details.py::TestAIP193ErrorFormat::test_error_object_present': [UNKNOWN],
  'http_json/test_problem_details.py::TestAIP193ErrorFormat::test_message_field_is_string': [UNKNOWN],
  'http_json/test_problem_details.py::TestAIP193ErrorInfo::test_details_contains_error_info': [UNKNOWN],
  'http_json/test_problem_details.py::TestAIP193ErrorInfo::test_error_info_reason_matches_condition': [UNKNOWN, ENDED],
  'http_json/test_problem_details.py::TestAIP193ErrorInfo::test_error_info_valid': [UNKNOWN],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeMappings::test_content_type_not_supported_error': [MEDIA],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeMappings::test_push_notification_not_supported_error': NO_PUSH,
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeMappings::test_task_not_cancelable_error': [ENDED],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeMappings::test_task_not_found_error': [UNKNOWN],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeMappings::test_unsupported_operation_error': [ENDED],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeMappings::test_version_not_supported_error': [VERSION],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeRange::test_error_code_in_valid_range[CancelTask-nonexistent]': [
    UNKNOWN,
  ],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeRange::test_error_code_in_valid_range[GetTask-nonexistent]': [
    UNKNOWN,
  ],
  'jsonrpc/test_error_codes.py::TestJsonRpcErrorCodeRange::test_error_code_in_valid_range[SendMessage-bad-version]': [
    VERSION,
  ],
  'jsonrpc/test_error_info.py::TestJsonRpcErrorInfo::test_data_contains_error_info': [UNKNOWN],
  'jsonrpc/test_error_info.py::TestJsonRpcErrorInfo::test_error_data_is_array': [UNKNOWN],
  'jsonrpc/test_error_info.py::TestJsonRpcErrorInfo::test_error_info_reason_matches_condition': [UNKNOWN, ENDED],
  'jsonrpc/test_error_info.py::TestJsonRpcErrorInfo::test_error_info_valid': [UNKNOWN],
  'jsonrpc/test_sse_streaming.py::TestSseStreamingFormat::test_streaming_events_contain_stream_response': [STREAM],
  'jsonrpc/test_sse_streaming.py::TestSseStreamingFormat::test_streaming_events_have_jsonrpc_envelope': [STREAM],
  'jsonrpc/test_sse_streaming.py::TestSseSubscribeToTask::test_subscribe_first_event_is_task': [SUBSCRIBE],
  'jsonrpc/test_sse_streaming.py::TestSseSubscribeToTask::test_subscribe_nonexistent_task_returns_error': [UNKNOWN],
};

/** Branch 0.3.x, what `--category mandatory` runs. */
export const KIT_0_3: Record<string, Proof> = {
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_json_rpc_requests[invalid_request0--32600]': [ANOTHER],
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_json_rpc_requests[invalid_request1--32600]': [NO_METHOD],
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_json_rpc_requests[invalid_request2--32601]': [METHOD],
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_json_rpc_requests[invalid_request3--32600]': [ID],
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_json_rpc_requests[invalid_request4--32602]': [PARAMS],
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_params': [PARAMS, OLD],
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_malformed_json': [NOTHING],
  'jsonrpc/test_json_rpc_compliance.py::test_rejects_unknown_method': [METHOD],
  'jsonrpc/test_protocol_violations.py::test_duplicate_request_ids': [TWICE],
  'jsonrpc/test_protocol_violations.py::test_invalid_jsonrpc_version': [VERSION],
  'jsonrpc/test_protocol_violations.py::test_missing_method_field': [NO_METHOD],
  'jsonrpc/test_protocol_violations.py::test_raw_invalid_json': [NOT_JSON],
  'protocol/test_a2a_v030_new_methods.py::TestAuthenticatedExtendedCard::test_authenticated_extended_card_method_exists':
    [OLD],
  'protocol/test_a2a_v030_new_methods.py::TestAuthenticatedExtendedCard::test_authenticated_extended_card_without_auth':
    [OLD],
  'protocol/test_a2a_v030_new_methods.py::TestMethodMappingCompliance::test_core_method_mapping_compliance': [
    OLD,
    OLD_REST,
  ],
  'protocol/test_a2a_v030_new_methods.py::TestMethodMappingCompliance::test_transport_specific_method_naming': [
    OLD,
    OLD_REST,
  ],
  'protocol/test_a2a_v030_transport_compliance.py::test_comprehensive_a2a_v030_compliance': [OLD, OLD_REST, CARD3],
  'protocol/test_a2a_v030_transport_compliance.py::test_multi_transport_method_mapping': [OLD, OLD_REST],
  'protocol/test_a2a_v030_transport_compliance.py::test_required_method_availability': [OLD],
  'protocol/test_a2a_v030_transport_compliance.py::test_transport_compliance_validation': [OLD, OLD_REST, CARD3],
  'protocol/test_a2a_v030_transport_compliance.py::test_transport_specific_features': [OLD, OLD_REST],
  'protocol/test_agent_card.py::test_agent_card_available': [CARD3],
  'protocol/test_agent_card.py::test_mandatory_field_types': [CARD3],
  'protocol/test_agent_card.py::test_mandatory_fields_present': [CARD3],
  'protocol/test_message_send_method.py::test_message_send_continue_task': [OLD],
  'protocol/test_message_send_method.py::test_message_send_invalid_params': [OLD],
  'protocol/test_message_send_method.py::test_message_send_valid_text': [OLD],
  'protocol/test_state_transitions.py::test_task_history_length': [OLD],
  'protocol/test_tasks_cancel_method.py::test_tasks_cancel_nonexistent': [OLD],
  'protocol/test_tasks_cancel_method.py::test_tasks_cancel_valid': [OLD],
  'protocol/test_tasks_get_method.py::test_tasks_get_nonexistent': [OLD],
  'protocol/test_tasks_get_method.py::test_tasks_get_valid': [OLD],
  'protocol/test_tasks_get_method.py::test_tasks_get_with_history_length': [OLD],
};
