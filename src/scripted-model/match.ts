import type { RequestView } from './request-view.ts';
import type { Rule, Script, When } from './script.ts';

/** The rule that answers, and the groups of its `user_matches` (group 0 = the whole match). */
export interface Match {
  rule: Rule;
  groups: string[];
}

/** The first rule whose conditions all hold, else the fallback; null when the script has none. */
export function matchRule(script: Script, request: RequestView): Match | null {
  for (const rule of script.rules) {
    if (!holds(rule.when, request)) continue;
    const groups = matchUser(rule.when, request);
    if (groups !== null) return { rule, groups };
  }
  return script.fallback === null ? null : { rule: script.fallback, groups: [] };
}

function holds(when: When, request: RequestView): boolean {
  return (
    (when.model === undefined || when.model === request.model) &&
    (when.turn === undefined || when.turn === request.turn) &&
    (when.no_tools === undefined || when.no_tools === (request.tools.length === 0)) &&
    (when.has_tool === undefined || request.tools.includes(when.has_tool)) &&
    (when.after_tool === undefined || when.after_tool === request.afterTool) &&
    (when.seed === undefined || (request.seed !== null && when.seed.includes(request.seed))) &&
    allIn(when.user_contains, [request.lastUser]) &&
    allIn(when.last_tool_contains, [request.lastTool]) &&
    allIn(when.system_contains, request.system) &&
    allIn(when.contains, request.texts)
  );
}

function allIn(wanted: string[] | undefined, texts: string[]): boolean {
  return wanted === undefined || wanted.every((part) => texts.some((text) => text.includes(part)));
}

function matchUser(when: When, request: RequestView): string[] | null {
  if (when.user_matches === undefined) return [];
  const matcher = when.user_matches.matcher(request.lastUser);
  if (!matcher.find()) return null;
  return Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? '');
}
