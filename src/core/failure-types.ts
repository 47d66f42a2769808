/** Types of activity failures that workflows tell apart. */

/** Type of the activity failure that stops a whole evaluation; its one detail is a `Stop` (core/evaluation.ts). */
export const STOP_FAILURE = 'EvaluationStopped';
/** Type of the activity failure that comes back at every try and is no outage. */
export const INTERNAL_FAILURE = 'InternalError';
/** Type of the activity failure of a trial whose evaluation was canceled. */
export const CANCEL_FAILURE = 'EvaluationCanceled';
