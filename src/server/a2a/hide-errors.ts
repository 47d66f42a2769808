import { A2AError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';

/**
 * The handler, its errors being the protocol's own alone: the text of any other (of a database, of a file) goes to the log,
 * since the SDK would hand it to the client.
 */
export function hideErrors(handler: A2ARequestHandler, log: (line: string) => void): A2ARequestHandler {
  const hidden = (error: unknown): Error => {
    if (error instanceof A2AError) return error;
    log(`ERROR ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return new A2AError('Internal error.');
  };
  const call = <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) => {
    return (...args: Args): Promise<Result> =>
      work(...args).catch((error: unknown) => {
        throw hidden(error);
      });
  };
  const stream = <Args extends unknown[], Event>(work: (...args: Args) => AsyncGenerator<Event, void, undefined>) =>
    async function* (...args: Args): AsyncGenerator<Event, void, undefined> {
      try {
        yield* work(...args);
      } catch (error) {
        throw hidden(error);
      }
    };
  return {
    getAgentCard: call(() => handler.getAgentCard()),
    getAuthenticatedExtendedAgentCard: call((...args) => handler.getAuthenticatedExtendedAgentCard(...args)),
    sendMessage: call((...args) => handler.sendMessage(...args)),
    sendMessageStream: stream((...args) => handler.sendMessageStream(...args)),
    getTask: call((...args) => handler.getTask(...args)),
    listTasks: call((...args) => handler.listTasks(...args)),
    cancelTask: call((...args) => handler.cancelTask(...args)),
    resubscribe: stream((...args) => handler.resubscribe(...args)),
    createTaskPushNotificationConfig: call((...args) => handler.createTaskPushNotificationConfig(...args)),
    getTaskPushNotificationConfig: call((...args) => handler.getTaskPushNotificationConfig(...args)),
    listTaskPushNotificationConfigs: call((...args) => handler.listTaskPushNotificationConfigs(...args)),
    deleteTaskPushNotificationConfig: call((...args) => handler.deleteTaskPushNotificationConfig(...args)),
  };
}
