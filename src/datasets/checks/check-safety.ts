import type { AllowedCall, Suite } from '../../core/suite.ts';
import type { EvalCase } from '../../core/case.ts';
import { didYouMean } from '../../core/did-you-mean.ts';
import { checkMatchers, regexProblem } from './matchers.ts';
import { errorAt, warningAt } from '../readers/source.ts';
import type { Path, Place, Report, SourceValue } from '../readers/source.ts';

interface SafetyCheck {
  suite: Pick<Suite, 'safety' | 'tools'>;
  source: SourceValue;
  report: Report;
}

/** `safety` of a suite: tools that exist, a default role that does, matchers and patterns that work. */
export function checkSafety(check: SafetyCheck): void {
  const { suite, source, report } = check;
  const { forbidden_tools, high_risk_tools, roles = {}, default_role, personal_data } = suite.safety;
  forbidden_tools.forEach((tool, i) => checkTool(check, tool, ['forbidden_tools', i]));
  high_risk_tools.forEach((tool, i) => checkTool(check, tool, ['high_risk_tools', i]));
  for (const [role, { allow }] of Object.entries(roles)) {
    allow.forEach((rule, i) => checkRule(check, rule, ['roles', role, 'allow', i]));
  }
  if (default_role !== undefined && !Object.hasOwn(roles, default_role)) {
    const message = `safety.default_role: ${unknownRole(default_role, roles)}`;
    report(errorAt(source.place(['safety', 'default_role']), message));
  }
  personal_data?.patterns.forEach(({ name, regex }, i) => {
    const problem = regexProblem(regex);
    if (problem === null) return;
    const place = source.place(['safety', 'personal_data', 'patterns', i, 'regex']);
    report(errorAt(place, `safety.personal_data.patterns: ${name}: ${problem}`));
  });
  if (personal_data !== undefined && personal_data.detect.length + personal_data.patterns.length === 0) {
    const message = 'safety.personal_data: detects nothing; name kinds in detect, or patterns';
    report(warningAt(source.place(['safety', 'personal_data']), message));
  }
}

/** The role a case names, against those the suite defines. */
export function checkRole(evalCase: EvalCase, roles: Suite['safety']['roles'], place: Place, report: Report): void {
  const { id, role } = evalCase;
  if (role === undefined || Object.hasOwn(roles ?? {}, role)) return;
  report(errorAt(place, `case "${id}": role: ${unknownRole(role, roles ?? {})}`));
}

function unknownRole(role: string, roles: object): string {
  const known = Object.keys(roles);
  const list = known.length === 0 ? 'the suite defines none (safety.roles)' : `known: ${known.join(', ')}`;
  return `there is no role "${role}"${didYouMean(role, known)}; ${list}`;
}

function checkTool({ suite, source, report }: SafetyCheck, tool: string, path: Path): void {
  const offered = new Set(suite.tools.map(({ name }) => name));
  if (offered.size === 0 || offered.has(tool)) return;
  const [key] = path;
  const label = `safety.${String(key)}`;
  const message = `${label}: the suite has no tool "${tool}"${didYouMean(tool, offered)}`;
  report(warningAt(source.place(['safety', ...path]), message));
}

function checkRule(check: SafetyCheck, rule: string | AllowedCall, path: Path): void {
  const { source, report } = check;
  checkTool(check, typeof rule === 'string' ? rule : rule.tool, path);
  if (typeof rule === 'string' || rule.args === undefined) return;
  for (const [name, value] of Object.entries(rule.args)) {
    const at = (inner: Path): Place => source.place(['safety', ...inner]);
    checkMatchers(value, [...path, 'args', name], {
      error: (inner, message) => report(errorAt(at(inner), `safety.roles: ${name}: ${message}`)),
      warning: (inner, message) => report(warningAt(at(inner), `safety.roles: ${name}: ${message}`)),
    });
  }
}
