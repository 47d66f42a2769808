import { EXIT } from '../core/errors.ts';
import { ExitSignal } from './exit-signal.ts';

/**
 * Signals closer together than this are one, in milliseconds: a Ctrl-C reaches this process from the terminal, and once
 * more from `npm run`, which forwards it.
 */
const SAME_SIGNAL_MS = 500;

export interface StopSignal {
  /** Aborted by the first signal, with an {@link ExitSignal} (130) as the reason. */
  signal: AbortSignal;
  /** Resolves with the first signal. */
  asked: Promise<void>;
  /** Signals do again what they do by themselves. */
  dispose(): void;
}

interface SignalOptions {
  /** Called once, with the first signal. */
  onFirst?: () => void;
  /** Default SIGINT and SIGTERM. */
  signals?: readonly NodeJS.Signals[];
  /** Milliseconds that only grow. Default `performance.now`. */
  now?: () => number;
  /** Ends the process at once. Default `process.exit`. */
  leave?: (exitCode: number) => void;
  /** Where signals come from. Default `process`. */
  source?: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
}

/** Who hears the signals of a source, the last one first: what a command does now knows better than what it is part of. */
const hearers = new WeakMap<object, (() => void)[]>();

/**
 * The first signal asks for an orderly stop; another one, half a second later or more, ends the process at once (130).
 * It holds until `dispose`, so call that last, after the clean-up. Where several hold, the newest alone hears.
 */
export function stopSignal(options: SignalOptions = {}): StopSignal {
  const {
    signals = ['SIGINT', 'SIGTERM'],
    now = () => performance.now(),
    leave = (exitCode: number) => process.exit(exitCode),
    source = process,
  } = options;
  const controller = new AbortController();
  const asked = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  let firstAt: number | null = null;
  const list = hearers.get(source) ?? [];
  hearers.set(source, list);
  const listener = (): void => {
    if (list.at(-1) !== listener) return;
    if (firstAt === null) {
      firstAt = now();
      options.onFirst?.();
      controller.abort(new ExitSignal(EXIT.interrupted));
    } else if (now() - firstAt >= SAME_SIGNAL_MS) {
      leave(EXIT.interrupted);
    }
  };
  list.push(listener);
  for (const signal of signals) source.on(signal, listener);
  return {
    signal: controller.signal,
    asked,
    dispose() {
      if (list.includes(listener)) list.splice(list.indexOf(listener), 1);
      for (const signal of signals) source.off(signal, listener);
    },
  };
}
