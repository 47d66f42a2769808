/** Which of two evaluations did better: `a` the first named, `b` the second. */
export type Preference = 'a' | 'b' | 'tie';

/** One pair of trials, shown to a judge in both orders. */
export interface PairVerdict {
  case_id: string;
  /** 1-based, of both evaluations. */
  trial_index: number;
  /** Null: the judge gave no verdict in one of the orders. */
  winner: Preference | null;
  /** What each judge said with `a` shown first, and with `b` shown first; null = no verdict. */
  orders: { model: string; a_first: Preference | null; b_first: Preference | null }[];
  reason: string;
}

/** Two evaluations compared answer by answer. */
export interface PairwiseResult {
  /** Pairs of trials asked about, those with a verdict, and those without. */
  pairs: number;
  judged: number;
  unscored: number;
  wins_a: number;
  wins_b: number;
  ties: number;
  /** Pairs in which a judge changed its mind with the order, of those it judged in both: its position bias. */
  order_changed: number;
  order_judged: number;
  cases: number;
  /** Mean over cases of what `b` won: a win 1, a tie 0.5; 0.5 = as good as each other. Null: nothing judged. */
  preference: number | null;
  /** 95 %, clustered by case. */
  low: number | null;
  high: number | null;
  /** Exact two-sided sign test over cases that lean to one side. */
  p: number;
}
