import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, Role, type Message, type Part, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  type TaskStore,
  UnauthenticatedUser,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';

/** What a remote agent of a test does with a message; `say` publishes. */
export type Behaviour = (say: Say, context: RequestContext) => Promise<void> | void;

interface Say {
  status(state: TaskState, text?: string, parts?: Part[]): void;
  artifact(id: string, parts: Part[], more?: { append?: boolean; name?: string }): void;
  /** Answers with a message in place of a task; before anything else. */
  message(text: string, parts?: Part[]): void;
}

export interface RemoteOptions {
  behaviour: Behaviour;
  /** Default true. */
  streaming?: boolean;
  version?: '1.0' | '0.3';
  binding?: 'JSONRPC' | 'HTTP+JSON';
  token?: string;
  extensions?: string[];
  /** Address in the card in place of the agent's own. */
  cardUrl?: string;
}

/** A remote A2A agent made with the SDK's own server. */
export interface Remote {
  url: string;
  /** Methods and paths asked for, with the id of the task where one is named. */
  log: string[];
  /** Messages received. */
  messages: Message[];
  canceled: string[];
  /** Kills every connection and stops listening. */
  stop(): Promise<void>;
  /** Listens again at the same address, with the tasks it had; `forget`: without them. */
  start(options?: { forget?: boolean }): Promise<void>;
  /** Loses every task it had. */
  forget(): void;
  close(): Promise<void>;
}

export const text = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});
export const data = (value: unknown): Part => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

function cardOf(url: string, options: RemoteOptions): AgentCard {
  const { version = '1.0', binding = 'JSONRPC', streaming = true, extensions = [] } = options;
  const path = binding === 'JSONRPC' ? '/rpc' : '/rest';
  return {
    ...AgentCard.fromJSON({
      name: 'remote',
      description: 'a remote agent',
      version: '1',
      supportedInterfaces: [
        { url: options.cardUrl ?? `${url}${path}`, protocolBinding: binding, protocolVersion: version },
      ],
      capabilities: { streaming, extensions: extensions.map((uri) => ({ uri })) },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    }),
  };
}

function sayTo(bus: ExecutionEventBus, context: RequestContext): Say {
  const place = { taskId: context.taskId, contextId: context.contextId, metadata: undefined };
  let announced = false;
  const agentMessage = (parts: Part[]): Message => ({
    ...place,
    messageId: crypto.randomUUID(),
    role: Role.ROLE_AGENT,
    parts,
    extensions: [],
    referenceTaskIds: [],
  });
  const announce = (): void => {
    if (announced) return;
    announced = true;
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(
      AgentEvent.task({
        id: context.taskId,
        contextId: context.contextId,
        status,
        artifacts: context.task?.artifacts ?? [],
        history: context.task?.history ?? [context.userMessage],
        metadata: undefined,
      }),
    );
  };
  return {
    status(state, said, parts = []) {
      announce();
      const all = [...(said === undefined ? [] : [text(said)]), ...parts];
      const message = all.length === 0 ? undefined : agentMessage(all);
      bus.publish(
        AgentEvent.statusUpdate({ ...place, status: { state, message, timestamp: new Date().toISOString() } }),
      );
    },
    artifact(id, parts, more = {}) {
      announce();
      const artifact = {
        artifactId: id,
        name: more.name ?? '',
        description: '',
        parts,
        metadata: undefined,
        extensions: [],
      };
      bus.publish(AgentEvent.artifactUpdate({ ...place, artifact, append: more.append ?? false, lastChunk: true }));
    },
    message(said, parts = []) {
      bus.publish(AgentEvent.message({ ...agentMessage([text(said), ...parts]), taskId: '' }));
    },
  };
}

export async function startRemote(options: RemoteOptions): Promise<Remote> {
  const log: string[] = [];
  const messages: Message[] = [];
  const canceled: string[] = [];
  let store = new InMemoryTaskStore();
  const current: TaskStore = {
    save: (...given) => store.save(...given),
    load: (...given) => store.load(...given),
    list: (...given) => store.list(...given),
  };
  const forget = (): void => {
    store = new InMemoryTaskStore();
  };
  let server: Server | null = null;
  let port = 0;
  const listen = async (): Promise<void> => {
    server = createServer();
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    const card = cardOf(`http://127.0.0.1:${port}`, options);
    const executor = {
      async execute(context: RequestContext, bus: ExecutionEventBus) {
        messages.push(context.userMessage);
        await options.behaviour(sayTo(bus, context), context);
      },
      cancelTask(id: string, bus: ExecutionEventBus) {
        canceled.push(id);
        const status = {
          state: TaskState.TASK_STATE_CANCELED,
          message: undefined,
          timestamp: new Date().toISOString(),
        };
        bus.publish(AgentEvent.statusUpdate({ taskId: id, contextId: '', status, metadata: undefined }));
        return Promise.resolve();
      },
    };
    const requestHandler = new DefaultRequestHandler(card, current, executor);
    server.on('request', appOf({ options, log, card, requestHandler }));
  };
  await listen();
  const stop = async (): Promise<void> => {
    const stopping = server;
    server = null;
    if (stopping === null) return;
    stopping.closeAllConnections();
    await new Promise((resolve) => stopping.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    messages,
    canceled,
    stop,
    async start(options = {}) {
      if (options.forget === true) forget();
      await listen();
    },
    forget,
    close: stop,
  };
}

function appOf(parts: {
  options: RemoteOptions;
  log: string[];
  card: AgentCard;
  requestHandler: DefaultRequestHandler;
}): express.Express {
  const { options, log, card, requestHandler } = parts;
  const legacyCompat = { enabled: true };
  const userBuilder = (): Promise<UnauthenticatedUser> => Promise.resolve(new UnauthenticatedUser());
  const app = express();
  app.use(express.json(), (req, res, next) => {
    const { method, params } = (req.body ?? {}) as { method?: string; params?: { id?: string } };
    log.push(
      method === undefined
        ? `${req.method} ${req.path}`
        : `${method}${params?.id === undefined ? '' : ` ${params.id}`}`,
    );
    if (options.token !== undefined && req.headers.authorization !== `Bearer ${options.token}`) {
      res.status(401).json({});
      return;
    }
    next();
  });
  if (options.version === '0.3') {
    app.use((req, _res, next) => {
      // An agent of 0.3 knows nothing of versions.
      if (req.path.startsWith('/.well-known')) req.headers['a2a-version'] = '0.3';
      next();
    });
  }
  const provider = options.version === '0.3' ? card : (AgentCard.toJSON(card) as AgentCard);
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({
      agentCardProvider: () => Promise.resolve(provider),
      ...(options.version === '0.3' ? { legacyCompat } : {}),
    }),
  );
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder, legacyCompat }));
  app.use('/rest', restHandler({ requestHandler, userBuilder, legacyCompat }));
  return app;
}
