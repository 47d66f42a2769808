import type { CustomScorer } from 'assay';

/** Every document named in square brackets is one of the case's, and every expected document is named. With none expected
 *  that leaves the first half: null, since it decides, would leave the trial without a verdict. */
const citations: CustomScorer = ({ evalCase, trajectory }) => {
  const wanted = evalCase.expected.doc_ids ?? [];
  const known = new Set((evalCase.context?.documents ?? []).map((document) => document.id));
  const cited = [...(trajectory.answer ?? '').matchAll(/\[([\w-]+)\]/g)].map((match) => match[1] ?? '');
  const invented = cited.filter((id) => !known.has(id));
  const found = wanted.filter((id) => cited.includes(id));
  const value = invented.length > 0 ? 0 : wanted.length === 0 ? 1 : found.length / wanted.length;
  const reason =
    invented.length > 0
      ? `cites ${invented.join(', ')}, which the case does not have`
      : `cites ${found.length} of ${wanted.length} expected documents`;
  return { value, passed: value === 1, reason, details: { cited, invented } };
};
export default citations;

/** 1 up to `options.most_words` words, then in proportion less. */
export const brevity: CustomScorer = ({ trajectory, options }) => {
  const most = Number(options['most_words'] ?? 50);
  const words = (trajectory.answer ?? '').split(/\s+/).filter((word) => word !== '').length;
  if (words === 0) return { value: null, reason: 'there is no answer' };
  return { value: Math.min(1, most / words), passed: words <= most, reason: `${words} words, at most ${most} wanted` };
};
