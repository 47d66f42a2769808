import { stat } from 'node:fs/promises';
import { METRICS } from '../../core/evaluation.ts';
import { ownScoreNames } from '../../core/scorer-names.ts';
import type { Suite } from '../../core/suite.ts';
import { resolveInside } from '../safe-path.ts';
import { errorAt } from '../readers/source.ts';
import type { Report, SourceValue } from '../readers/source.ts';
import type { SuiteFolder } from '../suite-parts.ts';

/** Names in `gate_result.metric` and in `gates_off` beside the metrics. */
const OTHER_GATES = ['regression', 'any_verdict', 'budget'];

/** The suite's own scorers: names that are free, and files that are there. */
export async function checkScorers(check: {
  suite: Pick<Suite, 'scorers'>;
  source: SourceValue;
  folder: SuiteFolder;
  report: Report;
}): Promise<void> {
  const { suite, source, folder, report } = check;
  const taken = new Set<string>(ownScoreNames());
  const metrics = new Set<string>([...METRICS, ...OTHER_GATES]);
  for (const [i, { name, path }] of (suite.scorers ?? []).entries()) {
    if (taken.has(name)) {
      const message = `scorers: "${name}" is a score of Assay's own; name yours otherwise`;
      report(errorAt(source.place(['scorers', i, 'name']), message));
    } else if (metrics.has(name)) {
      const message = `scorers: "${name}" is a metric of Assay's own; name yours otherwise`;
      report(errorAt(source.place(['scorers', i, 'name']), message));
    }
    const place = source.place(['scorers', i, 'path']);
    const safe = await resolveInside(folder.root, path, folder.allowOutside);
    if (!safe.ok) report(errorAt(place, `scorers: ${safe.error}`));
    else if ((await stat(safe.absolute)).isDirectory()) {
      report(errorAt(place, `scorers: "${path}" is a folder; expected a file`));
    }
  }
}
