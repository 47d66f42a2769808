/** Wordings by which planted text addresses a judge. A hit flags the verdict for a reader; it never changes it. */
const ADDRESSING_THE_JUDGE = [
  /\b(ignore|disregard|forget)\b.{0,40}\b(instruction|rule|prompt|above|previous)/i,
  /\b(you must|you should|please)\s+(score|rate|grade|mark|output|return|reply|answer)\b/i,
  /\bas (instructed|requested|told)\b/i,
  /\bsystem prompt\b/i,
  /(忽略|无视|不要理会).{0,12}(指令|指示|提示|规则|要求)/,
  /(请|必须|务必).{0,6}(给|打|评|输出|返回).{0,10}(满分|分|success|成功)/i,
];

/** True when a judge's reason reads as if it repeated an instruction found in what it judged. */
export function quotesInstruction(reason: string | null): boolean {
  return reason !== null && ADDRESSING_THE_JUDGE.some((pattern) => pattern.test(reason));
}
