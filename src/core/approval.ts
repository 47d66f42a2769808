import type { Json } from './json.ts';
import { isJsonObject } from './json.ts';
import { parseJson } from './lossless-json.ts';

/** Members of an answer that say whether it is a yes. */
const ANSWERS = ['approved', 'granted', 'approval', 'status', 'decision', 'result', 'outcome'] as const;
const LEAD = '^\\W*(?:(?:the |your )?(?:request|approval)\\W*(?:is |was |has been )?|it (?:is |was |has been ))?';
const NO = new RegExp(
  `${LEAD}(?:(?:false|not (?:approved|granted|allowed)|refused|rejected|denied|declined)(?!\\w)|no(?=\\s*(?:[.,;:!]|$)))`,
  'i',
);
const NO_IN_CHINESE = /拒绝|驳回|不同意|不批准|不予批准|未批准|未获批|未通过|不通过/;
const NOT_YET = new RegExp(
  `${LEAD}(?:still )?(?:not yet approved|pending|expired|timed out|cancell?ed|failed|error)(?!\\w)|^\\s*(?:待审批|待批准|审批中)[\\s。！]*$`,
  'i',
);

/**
 * True for an answer of `request_approval` that is no approval: `false`; a member such as `approved`, `status` or `decision`
 * that is false or says no (refused, rejected, denied, declined, 拒绝, 驳回, …) or not yet (pending, expired, canceled, failed);
 * an `error`; a text that says so, as JSON or in words. Recorded messages hold every answer as a text.
 */
export function isRefusal(answer: Json): boolean {
  if (isJsonObject(answer)) {
    const { error = null, approved, granted } = answer;
    if (error !== null && error !== false && error !== '') return true;
    const members = ANSWERS.map((name) => answer[name] ?? null);
    return members.some(saysNo) || (approved !== true && granted !== true && members.some(saysNotYet));
  }
  if (typeof answer !== 'string') return saysNo(answer);
  const read = parseJson(answer);
  if (read.ok && typeof read.value !== 'string') return isRefusal(read.value);
  const words = read.ok ? read.value : answer;
  return saysNo(words) || saysNotYet(words);
}

function saysNo(value: Json): boolean {
  return value === false || (typeof value === 'string' && (NO.test(value) || NO_IN_CHINESE.test(value)));
}

function saysNotYet(value: Json): boolean {
  return typeof value === 'string' && NOT_YET.test(value);
}
