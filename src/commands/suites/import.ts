import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ImportBfclFlags } from './import-bfcl.ts';
import type { ImportDatasetFlags } from './import-datasets.ts';
import type { ImportTrajectoriesFlags } from './import-trajectories.ts';

const BFCL_HELP = `
Writes OUT/cases.jsonl and OUT/suite.yaml. An accepted value "" of the ground truth becomes {optional: true}, several
accepted values {any_of: […]}; values are compared as the leaderboard's checker does (tool_score.profile: bfcl). Dots in
tool names become "_", in tools and expected calls alike. Without --answers every case expects no call (irrelevance).

Examples:
  $ assay import bfcl --questions BFCL_v4_simple_python.json --answers possible_answer/BFCL_v4_simple_python.json --out bfcl
  $ assay import bfcl --questions BFCL_v4_irrelevance.json --out irrelevance --limit 40
  $ assay run bfcl/suite.yaml`;

const PROMPTFOO_HELP = `
Writes OUT/cases.jsonl and OUT/suite.yaml: one case for each prompt and test, the prompt filled with the test's variables.
Asserts with an equal here are converted; all else (providers, JavaScript, transforms, weights, other files …) is listed as
not imported, with the tests it stands in.

Examples:
  $ assay import promptfoo promptfooconfig.yaml --out suite
  $ assay import promptfoo promptfooconfig.yaml --out suite --json | jq .notImported`;

const TAU2_HELP = `
Writes OUT/cases.jsonl, OUT/tools.json and OUT/suite.yaml from a tasks.json of tau2-bench, or from one task a line. Actions
become expected calls, assertions in words rules for the judge. The user's instructions are the input; there is no
simulated user, and checks of the environment's state are listed as not imported.

Examples:
  $ assay import tau2 data/tau2/domains/retail/tasks.json --out retail`;

const TRAJECTORIES_HELP = `
Writes one trajectory a line, for \`assay score\` and for agents of type replay. FILE is JSON, or JSON lines:
  openai     {"caseId", "messages": […]} a line, or a request with its response, as proxies log them
  otel       OTLP JSON with spans of the GenAI conventions: one trajectory a trace
  langfuse   traces with their observations, as exported or from the API
The case of a trace is the attribute (otel) or the key of its metadata (langfuse) that --case-attribute names, else its id.

Examples:
  $ assay import trajectories spans.jsonl --from otel --out recorded.jsonl
  $ assay import trajectories traces.json --from langfuse --case-attribute case --out recorded.jsonl
  $ assay score --cases cases.yaml --trajectories recorded.jsonl`;

/** `assay import`: datasets and recorded runs of other projects as those of this one. */
export function registerImport(program: Command, context: CommandContext): void {
  const command = program
    .command('import')
    .description('turn datasets and recorded runs of other projects into those of this one');
  command
    .command('bfcl')
    .description('Berkeley Function-Calling Leaderboard: original question and answer files')
    .requiredOption('--questions <file>', 'question file, one JSON object a line')
    .option('--answers <file>', 'file with the ground truth; leave it out for irrelevance')
    .requiredOption('--out <folder>', 'folder to write cases.jsonl and suite.yaml into')
    .option('--limit <n>', 'only the first n questions', positiveNumber)
    .option('--force', 'overwrite files that are there')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', BFCL_HELP)
    .action(async (flags: ImportBfclFlags) => {
      const { importBfcl } = await import('./import-bfcl.ts');
      await importBfcl(context, flags);
    });
  registerImportDatasets(command, context);
  registerImportTrajectories(command, context);
}

function registerImportDatasets(command: Command, context: CommandContext): void {
  const common = (name: string, what: string, help: string): Command =>
    command
      .command(name)
      .argument('<file>', 'file to read')
      .description(what)
      .requiredOption('--out <folder>', 'folder to write cases.jsonl and suite.yaml into')
      .option('--force', 'overwrite files that are there')
      .option('--json', 'print what was written, and what was not imported, as JSON')
      .addHelpText('after', help);
  common('promptfoo', 'promptfoo: tests and asserts of a YAML configuration', PROMPTFOO_HELP).action(
    async (file: string, flags: ImportDatasetFlags) => {
      const { importPromptfoo } = await import('./import-datasets.ts');
      await importPromptfoo(context, file, flags);
    },
  );
  common('tau2', 'tau2-bench: tasks with their expected actions', TAU2_HELP).action(
    async (file: string, flags: ImportDatasetFlags) => {
      const { importTau2 } = await import('./import-datasets.ts');
      await importTau2(context, file, flags);
    },
  );
}

function registerImportTrajectories(command: Command, context: CommandContext): void {
  command
    .command('trajectories')
    .argument('<file>', 'JSON, or JSON lines')
    .description('recorded runs: OpenAI messages, OpenTelemetry GenAI spans, Langfuse traces')
    .addOption(
      new Option('--from <form>', 'openai, otel or langfuse')
        .choices(['openai', 'otel', 'langfuse'])
        .makeOptionMandatory(),
    )
    .requiredOption('--out <file>', 'JSON lines file to write')
    .option('--case-attribute <name>', 'attribute or metadata key with the id of the case', 'assay.case_id')
    .option('--force', 'overwrite the file if it is there')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', TRAJECTORIES_HELP)
    .action(async (file: string, flags: ImportTrajectoriesFlags) => {
      const { importTrajectories } = await import('./import-trajectories.ts');
      await importTrajectories(context, file, flags);
    });
}

function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return Number(text);
}
