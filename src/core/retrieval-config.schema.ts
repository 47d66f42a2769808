import { z } from 'zod';
import type { RetrievalConfig } from './retrieval-config.ts';
import { strictObject } from './strict-object.schema.ts';

const text = z.string().min(1, { error: 'must not be empty' });
const share = z.number().min(0).max(1);

export const retrievalSchema: z.ZodType<RetrievalConfig> = strictObject({
  k: z.int().min(1).exactOptional(),
  tool: text.exactOptional(),
  path: text
    .regex(/^(?:\$\.?)?(?:[^.[\]]+|\[\])(?:\.[^.[\]]+|\[\])*$/, {
      error: 'expected names and [] for "every item", such as documents[].id',
    })
    .exactOptional(),
  pass_at: strictObject({
    recall: share.exactOptional(),
    precision: share.exactOptional(),
    mrr: share.exactOptional(),
    ndcg: share.exactOptional(),
  }).exactOptional(),
}).refine(({ tool, path }) => (tool === undefined) === (path === undefined), {
  error: 'expected tool and path together: the tool, and where the ids are in its result',
});
