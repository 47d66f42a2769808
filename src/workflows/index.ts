export { evaluation } from './evaluation.ts';
export { shard } from './shard.ts';
export { scheduledEvaluation } from './scheduled-evaluation.ts';
