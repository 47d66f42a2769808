import type { A2aToolConfig } from './a2a-config.ts';
import type { Json, JsonObject } from './json.ts';

/** Names in case and suite files are the names in code: both are snake_case, so an error, a row and a file say the same word. */

type Difficulty = 'EASY' | 'MEDIUM' | 'HARD';

/** The named axes of a case, as in the six-dimension schema; free text is allowed for others. */
type Dimension =
  | 'tool_selection'
  | 'prompt_assembly'
  | 'subagent_isolation'
  | 'rag_recall'
  | 'answer_completeness'
  | 'multi_turn_coherence'
  | (string & {});

export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string | null;
  tool_calls?: Json[];
  tool_call_id?: string;
  name?: string;
}

/** One expected call. `args: null` = arguments are not checked. Values may be literals or matcher objects (docs/scoring.md). */
export interface ExpectedCall {
  tool: string;
  args: JsonObject | null;
}

export type MatchMode = 'strict' | 'unordered' | 'superset' | 'subset' | 'in_order' | 'first';
export type ArgsMode = 'exact' | 'ignore' | 'subset' | 'superset';

/** One acceptable way to solve a case. */
export interface ExpectedAlternative {
  name?: string;
  calls: ExpectedCall[];
  match?: MatchMode;
  args?: ArgsMode | Record<string, ArgsMode>;
}

export interface PathCheck {
  path: string;
  value: Json;
}

/** A document a case expects, with how relevant it is: its gain in nDCG. */
export interface RelevantDocument {
  id: string;
  /** 0 = judged, and not relevant. */
  grade: number;
}

export interface Expected {
  /** Absent: tool calls are not scored. `[]`: no call is right. */
  calls?: ExpectedCall[];
  any_of?: ExpectedAlternative[];
  match?: MatchMode;
  args?: ArgsMode | Record<string, ArgsMode>;
  /** Tools that must be called for the case to be done, in the order a person would; see progress rate. */
  steps?: string[];
  /** Reference answer. */
  answer?: string;
  /** Acceptance criteria in prose, for the judge. */
  criteria?: string;
  must_call?: string[];
  /** Safety veto: a call, even one the mock world refused, fails trial, case and gate. */
  must_not_call?: string[];
  answer_contains?: string[];
  answer_not_contains?: string[];
  answer_matches?: string[];
  answer_equals?: string;
  /** The answer parses as JSON that satisfies `schema` (JSON Schema) and every `path = value`. */
  answer_json?: { schema?: JsonObject; equals?: PathCheck[] };
  number?: { value: number; tolerance?: number };
  /** Applies to answer_contains and answer_not_contains. Default false. */
  ignore_case?: boolean;
  final_status?: string;
  /** Checks on the mock world's end state. */
  state?: PathCheck[];
  max_iterations?: number;
  max_tokens?: number;
  max_tool_calls?: number;
  max_latency_ms?: number;
  /** US dollars. */
  max_cost?: number;
  /** Relevant documents; a bare id has grade 1 (its gain in nDCG), grade 0 = judged not relevant. See core/relevant-documents.ts. */
  doc_ids?: (string | RelevantDocument)[];
  plan?: string[];
  /** Secrets the case plants: seen in an answer, in tool arguments or in a message to a sub-agent, they have leaked. */
  canaries?: string[];
  /** What instructions planted in a tool result, a document or the user's text try to make the agent do; doing it is a violation. */
  injection?: Injection | Injection[];
  /** Prompt segments that must have been sent, in this order; default for cases of dimension prompt_assembly: all eight. */
  prompt_segments?: (string | ExpectedSegment)[];
  approvals?: string[];
  /** Calls per tool, minimum and maximum. */
  calls_per_tool?: Record<string, { min?: number; max?: number }>;
}

/** The canary action of a planted instruction: a call, a text said, or both. */
export interface Injection {
  /** Shown in the reason. */
  name?: string;
  tool?: string;
  /** Arguments the call must hold to count, matchers allowed; absent: any call of the tool counts. */
  args?: JsonObject;
  /** A text that an answer to the user must not hold; compared without regard to case, width and invisible characters. */
  text?: string;
}

/** A prompt segment a case expects. */
export interface ExpectedSegment {
  name: string;
  /** True when this case has nothing to put there: the segment may be empty or missing. Default false. */
  empty?: boolean;
  /** Texts the segment must hold. */
  contains?: string[];
}

export interface RagDocument {
  id: string;
  text: string;
  title?: string;
}

export interface CaseContext {
  /** Earlier conversation, most recent last. */
  memory?: ChatMessage[];
  documents?: RagDocument[];
  prompt_segments?: { name: string; text: string }[];
  /** Names of the suite's sub-agents, or definitions of the case's own. Absent: every sub-agent of the suite. */
  sub_agents?: (string | SubAgentDefinition)[];
}

/** A sub-agent the built-in agent may dispatch (docs/sub-agents.md). */
export interface SubAgentDefinition {
  name: string;
  /** What it is for; the agent reads it. */
  description?: string;
  /** Default: its name and description. */
  system_prompt?: string;
  /** Default: the agent's model. */
  model?: string;
  /** Names of tools of the case or suite that it may use; any other call is refused. Default none. */
  tools?: string[];
  /** Names of declared sub-agents it may dispatch itself. Default none. */
  sub_agents?: string[];
  /** One dispatch, milliseconds; past it the dispatch ends PARTIAL_SUCCESS and the agent goes on. Default 60,000. */
  timeout_ms?: number;
  /** Dispatches in one trial; one more is refused and recorded so. Default 5. */
  max_dispatches?: number;
  /** Model turns of one dispatch. Default 10. */
  max_iterations?: number;
  /** What it is expected to do, in words, for the judge. */
  behavior?: string;
  /** What a simulated sub-agent does instead of asking a model. */
  mock?: SubAgentMock;
}

/** A sub-agent without a model: its calls in order, then its result or failure. */
interface SubAgentMock {
  /** Tools it calls first, one after the other. */
  calls?: { tool: string; args?: JsonObject }[];
  /** What it returns; default an empty text. */
  result?: string;
  /** It fails with this message instead of returning. */
  fail?: string;
  /** Milliseconds before it ends. */
  delay_ms?: number;
}

/** A tool offered to the agent; `parameters` is a JSON Schema object. */
export interface ToolDefinition {
  name: string;
  description?: string;
  parameters?: JsonObject;
  /** A remote A2A agent that answers the calls of this tool, unless the case or suite has fixtures for it. */
  a2a?: A2aToolConfig;
}

export type MockFailure =
  | { kind: 'timeout'; after_ms?: number }
  | { kind: 'http_500'; message?: string }
  | { kind: 'not_found'; message?: string }
  | { kind: 'rate_limit'; message?: string }
  | { kind: 'malformed'; text?: string }
  /** The reply's result as JSON text, cut after `chars` characters; default half of them. */
  | { kind: 'truncated'; chars?: number };

/** What a tool answers: a result or a failure, after an optional delay. */
export interface MockReply {
  result?: Json;
  fail?: MockFailure;
  delay_ms?: number;
  /**
   * State paths set after this reply, e.g. `{ "order.status": "refunded" }`; `{$add: n}`, `{$append: value}` and
   * `{$remove: true}` change what is there (docs/mock-world.md).
   */
  set_state?: Record<string, Json>;
}

/** One rule of the mock world. Several replies = a sequence: the last one repeats. */
export interface MockFixture {
  tool: string;
  /** Absent: any arguments. */
  args?: JsonObject;
  /** How `args` is compared; default subset: every key listed here is in the call with an equal value. */
  match?: 'exact' | 'subset' | 'any';
  /** State paths and the values they must have for this fixture to answer; null: there is nothing. */
  when?: Record<string, Json>;
  replies: MockReply[];
}

export interface CaseMock {
  /** Names of shared fixtures of the suite. */
  fixtures?: string[];
  /** This case's own fixtures, tried before the shared ones. */
  tools?: MockFixture[];
  state?: JsonObject;
  /** What a call without fixture gets; default error. */
  unmatched?: 'error' | 'empty';
}

/** One row of a dataset: what is asked, and what is expected. */
export interface EvalCase {
  id: string;
  input?: string;
  messages?: ChatMessage[];
  /** User turns of a dialogue, sent one after the other. */
  turns?: string[];
  /** Names of suite tools, or definitions of the case's own. Absent: every tool of the suite. */
  tools?: (string | ToolDefinition)[];
  expected: Expected;
  context?: CaseContext;
  mock?: CaseMock;
  /** A role of the suite's `safety.roles`, whose allow list the agent must keep to. */
  role?: string;
  /** Checkable rules for the judge. */
  rubric?: string;
  min_steps?: number;
  category?: string;
  difficulty?: Difficulty;
  dimension?: Dimension;
  tags?: string[];
  /** Repetitions of this case; default: the suite's. */
  trials?: number;
  /** Milliseconds for one trial; default: the suite's limits.timeout_ms. */
  timeout_ms?: number;
  metadata?: JsonObject;
}

/** The last thing the user says: what a judge is shown as the query. */
export function queryOf(evalCase: EvalCase): string {
  if (evalCase.input !== undefined) return evalCase.input;
  if (evalCase.turns !== undefined && evalCase.turns.length > 0) return evalCase.turns.join('\n');
  const user = evalCase.messages?.filter((message) => message.role === 'user') ?? [];
  return user.at(-1)?.content ?? '';
}
