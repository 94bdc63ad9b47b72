import { type Command, Option } from 'commander';
import { epochMs } from '../../base/globals.ts';
import { namedLineOf } from '../../base/thrown.ts';
import type { Fairloom } from '../../client/client.ts';
import type { RunCause } from '../../client/facades/run-explanation.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { causeText } from '../../domain/task/cause.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import type { RunPause } from '../../domain/task/pause.ts';
import { encryptedWords } from '../../domain/task/sealed-text.ts';
import type { TaskState } from '../../domain/task/task.ts';
import type { RunImportOptions } from '../../runs/calls/import.ts';
import type { RerunOptions as LibraryRerunOptions } from '../../runs/calls/rerun.ts';
import type { RunHandle } from '../../runs/calls/run-handle.ts';
import type { RunDetails } from '../../runs/run-info.ts';
import { RUN_FORMS } from '../../runs/run-options.ts';
import { inputArgument, inputText, integerArgument, stateOption } from '../terminal/arguments.ts';
import { counted } from '../terminal/counted.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownMoment } from '../terminal/moments.ts';
import { fieldLines, jsonLine, jsonLines, type Output, type Thing } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import type { Style } from '../terminal/style.ts';
import { textTable } from '../terminal/text-table.ts';
import { changeEach } from '../views/bulk.ts';
import { type ConfirmOptions, confirmNamed } from '../views/confirm.ts';
import { followersOfRuns, wouldChange } from '../views/dry-run.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { type RunFilterOptions, selectRuns } from '../views/select-runs.ts';
import { limitArgument, showFirst } from '../views/select-tasks.ts';
import { runNodeView, runView, stateText } from '../views/views.ts';
import { type DrawOptions, draw, withFormat } from './graphs.ts';
import { CANCELED, withConfirm } from './tasks.ts';

interface ListOptions extends RunFilterOptions {
  readonly limit: number;
}

interface CancelOptions extends ConfirmOptions {
  readonly reason?: string;
  readonly wait?: boolean;
}

interface RerunOptions {
  readonly from?: string;
  /** As text: absent, the node or the run keeps its own. */
  readonly input?: string;
  readonly maxSteps?: number;
  readonly id?: string;
  readonly latest?: true;
}

interface ResumeOptions {
  readonly node?: string;
  readonly input?: string;
}

/** `fairloom runs …` */
export function addRuns(program: Command, shell: Shell): void {
  const runs = program.command('runs').description('runs of workflows');
  addList(runs, shell);
  addGet(runs, shell);
  addGraph(runs, shell);
  addExplain(runs, shell);
  addCancel(runs, shell);
  addPause(runs, shell);
  addResume(runs, shell);
  addRerun(runs, shell);
  addFork(runs, shell);
  addExport(runs, shell);
  addImport(runs, shell);
}

function addList(runs: Command, shell: Shell): void {
  runs
    .command('list')
    .description('runs, those under way first')
    .addOption(stateOption('in this state; default: all'))
    .addOption(new Option('--form <form>', 'of this form; default: both').choices(RUN_FORMS))
    .option('--queue <name>', 'of this queue')
    .option('--user <id>', 'of this user')
    .option('--limit <n|all>', 'rows', limitArgument, 50)
    .option('--values', 'with --json: inputs too, which may be long')
    .action((options: ListOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { limit } = options;
        await showFirst(output, selectRuns(loom, options), { limit, view: runView(epochMs()) });
        return undefined;
      }),
    );
}

function addGet(runs: Command, shell: Shell): void {
  runs
    .command('get <id>')
    .description('everything about one run, and its nodes')
    .action((id: string, _options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const run = await demandRun(loom, id);
        const table = textTable(run.nodes, runNodeView.columns(output.style));
        output.one({ json: run, id, text: [...runLines(run, output), '', ...table] });
        return undefined;
      }),
    );
}

function addGraph(runs: Command, shell: Shell): void {
  withFormat(runs.command('graph <id>'))
    .description('its graph, with the states of its nodes')
    .action((id: string, options: DrawOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        draw(output, { id, ...(await loom.runs.graph(id)) }, options);
        return undefined;
      }),
    );
}

function addExplain(runs: Command, shell: Shell): void {
  runs
    .command('explain <id>')
    .description('what a run waits for')
    .action((id: string, _options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const explanation = await loom.runs.explain(id);
        const { state, counts, waitsFor, causes, paused, command: cure } = explanation;
        const shown = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
        const lines = waitsFor.flatMap(({ node, why }) =>
          why.obstacles.map(
            ({ kind, text }) => `${shownNode(node)}: ${output.style.yellow(kind)}: ${text}`,
          ),
        );
        const text = [
          `${id} is ${stateText(state, output.style)}${paused === undefined ? '' : `, paused ${pauseText(paused)}`}`,
          ...causes.map((cause) => causeLine(cause, output.style)),
          ...(cure === undefined ? [] : [output.style.dim(`  ${cure}`)]),
          shown.join(', '),
          ...lines,
        ];
        output.one({ json: explanation, id, text: text.filter((line) => line !== '') });
        return undefined;
      }),
    );
}

function addCancel(runs: Command, shell: Shell): void {
  withConfirm(runs.command('cancel <id...>'))
    .description('cancel runs and all of their nodes that have not ended')
    .option('--reason <text>', 'kept with the run and its nodes')
    .option('--wait', 'until everything has ended')
    .action((ids: readonly string[], options: CancelOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const followers = await followersOfRuns(loom, ids);
        const named = {
          ...{ ...options, noun: 'run', followers },
          isStored: async (id: string) => (await loom.runs.get(id)) !== undefined,
          missing: (id: string) => new TaskNotFoundError(id),
        };
        if (!(await confirmNamed('cancel', ids, named, output))) {
          const stateOf = async (id: string): Promise<TaskState | undefined> =>
            (await loom.runs.get(id))?.state;
          // Of a run that has ended, nodes may be open still.
          const isOpen = new Set(followers.all.map(({ with: run }) => run));
          const refusal = (state: TaskState, id: string): string | undefined =>
            isOpen.has(id) ? undefined : CANCELED.refusal(state, id);
          return wouldChange(output, { ...CANCELED, ids, followers, stateOf, refusal });
        }
        const { reason, wait } = options;
        return changeEach('cancel', ids, output, async (id) => {
          const { run, nodes } = await loom.runs.cancel(id, { reason, wait });
          if (run.kind === 'not-found') throw new TaskNotFoundError(id);
          if (run.kind === 'already-ended' && nodes.length === 0) {
            throw new CliError(EXIT.refused, `run ${id} has ended as ${run.state}`);
          }
          return `${run.kind}, with ${counted(nodes.length, 'node')}`;
        });
      }),
    );
}

function addPause(runs: Command, shell: Shell): void {
  runs
    .command('pause <id...>')
    .description('start nothing more of runs until they are resumed; what runs goes on')
    .option('--reason <text>', 'shown with the run')
    .action((ids: readonly string[], { reason }: { readonly reason?: string }, command: Command) =>
      withLoom(shell, command, (loom, output) =>
        changeEach('pause', ids, output, async (id) => {
          await loom.runs.pause(id, { reason });
          return 'paused';
        }),
      ),
    );
}

function addResume(runs: Command, shell: Shell): void {
  runs
    .command('resume <id...>')
    .description('end pauses, or put failed runs back; what has finished is not run again')
    .option('--node <node>', 'the node that failed, which runs with --input')
    .option('--input <json>', 'its input from now on: JSON, @file, or - for stdin')
    .action((ids: readonly string[], { node, input }: ResumeOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const options = { ...(node === undefined ? {} : { node }), ...(await given(input, shell)) };
        return changeEach('resume', ids, output, async (id) => {
          await loom.runs.resume(id, options);
          return 'resumed';
        });
      }),
    );
}

/** The option is there only when it was said: its value may be anything. */
async function given(
  text: string | undefined,
  { stdin }: Shell,
): Promise<{ readonly input?: unknown }> {
  return text === undefined ? {} : { input: await inputArgument(text, stdin) };
}

function addRerun(runs: Command, shell: Shell): void {
  withAgain(runs.command('rerun <id>'))
    .description('run it again as a new one; what has finished is not run again')
    .option('--from <node>', 'run this node and all that follows again')
    .option('--input <json>', 'of that node, else of the whole run: JSON, @file, or - for stdin')
    .action((id: string, said: RerunOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        output.one(stored(await loom.runs.rerun(id, await againOptions(said, shell))));
        return undefined;
      }),
    );
}

function addFork(runs: Command, shell: Shell): void {
  withAgain(runs.command('fork <id>'))
    .description(
      'a new run from a node of it, also while it goes on, with its channels as they are',
    )
    .requiredOption('--from <node>', 'the node with which the new run begins')
    .option('--input <json>', 'of that node: JSON, @file, or - for stdin')
    .action((id: string, said: RerunOptions & { readonly from: string }, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const options = { ...(await againOptions(said, shell)), from: said.from };
        output.one(stored(await loom.runs.fork(id, options)));
        return undefined;
      }),
    );
}

function withAgain(command: Command): Command {
  return command
    .option('--id <id>', 'the id of the new run')
    .option('--latest', 'with the newest versions of its tasks')
    .option('--max-steps <n>', 'tasks and groups that it may come to', integerArgument(1));
}

async function againOptions(
  { from, input, id, latest, maxSteps }: RerunOptions,
  shell: Shell,
): Promise<LibraryRerunOptions> {
  const versioning = latest === true ? 'latest' : undefined;
  return { from, id, versioning, maxSteps, ...(await given(input, shell)) };
}

function addExport(runs: Command, shell: Shell): void {
  runs
    .command('export <id>')
    .description('the whole run as JSON, to be kept or imported elsewhere')
    .action((id: string, _options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const run = await loom.runs.export(id);
        output.one({ json: run, id, text: jsonLines(run) });
        return undefined;
      }),
    );
}

function addImport(runs: Command, shell: Shell): void {
  runs
    .command('import <file>')
    .description('store an exported run, which goes on; - reads stdin')
    .option('--id <id>', 'the id of the new run')
    .option('--user <id>', 'whose turns it takes; default: as it was')
    .action((file: string, options: RunImportOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { id, user } = options;
        const [text] = await inputText(file === '-' ? file : `@${file}`, shell.stdin);
        const handle = await loom.runs.import(text, { id, user });
        output.one(stored(handle));
        return undefined;
      }),
    );
}

/** Where a run began not to finish. */
function causeLine({ node, attempt, cause, error }: RunCause, style: Style): string {
  const where = node === '' ? 'the run itself' : shownNode(node);
  const threw = error === undefined ? '' : `: ${namedLineOf(error)}`;
  const why = cause === undefined ? '' : ` (${causeText(cause)})`;
  return `${style.red(where)}, attempt ${attempt}${threw}${why}`;
}

/** What is shown of a run that was stored. */
function stored({ id, created }: RunHandle<unknown>): Thing {
  const json = { id, created } satisfies JsonShapes['runs rerun' | 'runs fork' | 'runs import'];
  return { json, id, text: [id] };
}

async function demandRun(loom: Fairloom, id: string): Promise<RunDetails> {
  const run = await loom.runs.get(id);
  if (run === undefined) throw new TaskNotFoundError(id);
  return run;
}

/** Since when, and why. */
function pauseText({ since, reason }: RunPause): string {
  const why = reason === undefined ? '' : `: ${reason}`;
  return `since ${shownMoment(since, epochMs())}${why}`;
}

function runLines(run: RunDetails, { style }: Output): readonly string[] {
  const now = epochMs();
  return fieldLines(
    {
      id: run.id,
      name: run.name,
      form: run.form,
      state: stateText(run.state, style),
      user: run.user,
      queue: run.queue,
      graph: run.graph,
      'fork of': run.forkedFrom,
      created: shownMoment(run.createdAt, now),
      ended: run.endedAt === undefined ? undefined : shownMoment(run.endedAt, now),
      paused: run.paused === undefined ? undefined : pauseText(run.paused),
      why: run.cause === undefined ? undefined : causeText(run.cause),
      input: run.input === undefined ? undefined : jsonLine(run.input),
      metadata: run.metadata === undefined ? undefined : jsonLine(run.metadata),
      result: run.result === undefined ? undefined : jsonLine(run.result),
      values: run.encryptedWith === undefined ? undefined : encryptedWords(run.encryptedWith),
    },
    style,
  );
}
