import type { Agent, AgentInput } from '../agents/agent.ts';
import type { ClosableAgent } from '../agents/index.ts';
import type { Trajectory } from '../core/trajectory.ts';

/** An agent that can be let go of while trials may still ask for it. */
export interface AgentLease extends Agent {
  /** Trials under way. */
  running(): number;
  /**
   * Closes the agent once no trial is under way. A step that took this lease before and asks only now is served by an
   * agent made anew, closed again after it.
   */
  release(): void;
}

/** @param make makes the agent; called at once, so that what cannot be made fails here. */
export async function createAgentLease(make: () => Promise<ClosableAgent>): Promise<AgentLease> {
  let agent: Promise<ClosableAgent> | null = Promise.resolve(await make());
  let running = 0;
  let released = false;

  function closeIfIdle(): void {
    if (!released || running > 0 || agent === null) return;
    // One that could not be made holds nothing, and who asked for it was told.
    void agent.then((made) => made.close()).catch(() => undefined);
    agent = null;
  }

  return {
    async run(input: AgentInput): Promise<Trajectory> {
      running += 1;
      try {
        agent ??= make();
        return await (await agent).run(input);
      } finally {
        running -= 1;
        closeIfIdle();
      }
    },
    running: () => running,
    release() {
      released = true;
      closeIfIdle();
    },
  };
}
