import type { Task } from '@a2a-js/sdk';

/**
 * One look at a task for all who follow it: followers that come within `freshMs` get the same answer, so that a thousand of
 * them cost the database what one does.
 * @param wait resolves after so many milliseconds
 */
export function createSharedLook(
  look: (id: string) => Promise<Task | null>,
  freshMs: number,
  wait: (ms: number) => Promise<unknown>,
): (id: string) => Promise<Task | null> {
  const looks = new Map<string, Promise<Task | null>>();
  return (id) => {
    const known = looks.get(id);
    if (known !== undefined) return known;
    const fresh = look(id);
    looks.set(id, fresh);
    void wait(freshMs).then(() => looks.delete(id));
    return fresh;
  };
}
