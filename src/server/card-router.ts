import { A2A_VERSION_HEADER, AgentCard } from '@a2a-js/sdk';
import { legacyAgentCardRouter } from '@a2a-js/sdk/compat/v0_3/server/express';
import { agentCardHandler } from '@a2a-js/sdk/server/express';
import express, { type Router } from 'express';

/** Seconds a client may keep the card. */
const MAX_AGE_S = 60;

/**
 * The agent card in the form of the protocol a client says it speaks (`A2A-Version`), else in `form`. The form of 0.3
 * names the interfaces of 1.0 too, so that a client of either finds its way; the form of 1.0 is strict.
 */
export function cardRouter(card: AgentCard, form: '0.3' | '1.0'): Router {
  const router = express.Router();
  const cache = { maxAge: MAX_AGE_S };
  router.use((req, _res, next) => {
    req.headers[A2A_VERSION_HEADER.toLowerCase()] ??= form;
    next();
  });
  router.use(legacyAgentCardRouter({ agentCardProvider: () => Promise.resolve(card), cache }));
  router.use((_req, res, next) => {
    res.append('Vary', A2A_VERSION_HEADER);
    next();
  });
  // The SDK writes the card as it is in memory; on the wire it has another form.
  const wire = AgentCard.toJSON(card) as AgentCard;
  router.use(agentCardHandler({ agentCardProvider: () => Promise.resolve(wire), cache }));
  return router;
}
