/**
 * Types for agents and tools written against Assay. Everything else is done from the command line (`assay --help`).
 *
 * ```ts
 * import type { AgentFunction } from 'assay';
 *
 * const agent: AgentFunction = async (input, { tools }) => {
 *   const order = await tools['get_order']?.({ order_id: 'A-100' });
 *   return `Your order: ${JSON.stringify(order)}`;
 * };
 * export default agent;
 * ```
 *
 * Keys of cases, suites, trajectories and scores are written as in their files: snake_case.
 * @module
 */

// Agents of your own (`agent: { type: module }`).
export type { AgentAnswer, AgentFunction, AgentUsage } from './agents/module/agent-function.ts';
export type { CallError, ModuleContext, ToolFunction } from './agents/module/module-context.ts';
// Scorers of your own (`scorers: [{ name, path }]`).
export type { CustomScore, CustomScorer, CustomScorerInput } from './scorers/custom/custom-scorer.ts';
export type { Json, JsonObject } from './core/json.ts';
export type { ModelReply } from './core/model.ts';

// What goes in: datasets and suites, as loaded.
export type {
  CaseMock,
  ChatMessage,
  EvalCase,
  Expected,
  ExpectedCall,
  MockFixture,
  ToolDefinition,
} from './core/case.ts';
export type { CustomScorerConfig, GateConfig, Suite } from './core/suite.ts';

// What comes out: `assay score`, `assay show --json`, `assay report --format json`.
export type { CaseResult, EvaluationResult, GateResult, Metric, Verdict } from './core/evaluation.ts';
export type { Score } from './core/score.ts';
export type { FinalStatus, ToolCall, Trajectory, Usage } from './core/trajectory.ts';
export type { TrialStatus } from './core/trial.ts';
export type { ReportModel } from './report/report-model.ts';
