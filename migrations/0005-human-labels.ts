import { sql, type Kysely } from 'kysely';

/**
 * What people said of trials a judge scored: one label a trial, dimension and reviewer. It is about a trajectory: where a
 * trial is run anew, the label goes with what it was about.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table human_label (
      evaluation_id text not null,
      case_id text not null,
      trial_index integer not null,
      dimension text not null,
      reviewer text not null,
      label text not null,
      labelled_at timestamptz not null default now(),
      primary key (evaluation_id, case_id, trial_index, dimension, reviewer),
      foreign key (evaluation_id, case_id, trial_index) references trajectory on delete cascade
    )`.execute(db);
}
