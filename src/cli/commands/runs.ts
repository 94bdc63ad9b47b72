import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import { namedLineOf } from '../../base/thrown.ts';
import type { RunCause, RunExplanation } from '../../client/facades/run-explanation.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { causeText } from '../../domain/task/cause.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import type { RunPause } from '../../domain/task/pause.ts';
import { encryptedWords } from '../../domain/task/sealed-text.ts';
import type { TaskState } from '../../domain/task/task.ts';
import type { RunImportOptions } from '../../runs/calls/import.ts';
import type { RunDetails } from '../../runs/run-info.ts';
import { inputText } from '../terminal/arguments.ts';
import { counted } from '../terminal/counted.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownMoment } from '../terminal/moments.ts';
import { shows } from '../terminal/operation-command.ts';
import { fieldLines, jsonLine, type Output } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import type { Style } from '../terminal/style.ts';
import { textTable } from '../terminal/text-table.ts';
import { changeEach } from '../views/bulk.ts';
import { type ConfirmOptions, confirmNamed } from '../views/confirm.ts';
import { followersOfRuns, wouldChange } from '../views/dry-run.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { type RunFilterOptions, selectRuns } from '../views/select-runs.ts';
import { showFirst } from '../views/select-tasks.ts';
import { asJson, each, type ShownBy, thing } from '../views/shown.ts';
import { runNodeView, runView, stateText } from '../views/views.ts';
import { drawn } from './graphs.ts';
import { CANCELED } from './tasks.ts';

interface CancelOptions extends ConfirmOptions {
  readonly wait?: boolean;
}

/** `fairloom runs …`, `fairloom graphs …` */
export const RUNS: ShownBy = {
  'runs.list': shows<RunFilterOptions, Pick<RunFilterOptions, 'values'>>(
    async (call) => {
      const { loom, output, limit, input, own } = call;
      const runs = selectRuns(loom, { ...input, values: own.values });
      await showFirst(output, runs, { limit, view: runView(epochMs()) });
      return undefined;
    },
    {
      needs: { state: false },
      flags: (command) => command.option('--values', 'with --json: inputs too, which may be long'),
    },
  ),
  ...thing('runs.get', (run, output) => {
    const table = textTable(run.nodes, runNodeView.columns(output.style));
    return { id: run.id, text: [...runLines(run, output), '', ...table] };
  }),
  'runs.graph': drawn('runs.graph', 'id'),
  'graphs.show': drawn('graphs.show', 'hash'),
  ...thing('runs.explain', (explanation, { style }) => ({
    id: explanation.id,
    text: explanationLines(explanation, style),
  })),
  'runs.pause': each('pause'),
  'runs.resume': each('resume'),
  ...thing('runs.rerun', ({ id }) => ({ id, text: [id] })),
  ...thing('runs.fork', ({ id }) => ({ id, text: [id] })),
  ...thing('runs.export', (run) => asJson(run, run.id)),
  'runs.cancel': shows<{ readonly reason?: string }, CancelOptions>(
    async (call) => {
      const { loom, output, ids, input, own } = call;
      const followers = await followersOfRuns(loom, ids);
      const named = {
        ...{ ...own, noun: 'run', followers },
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
      return changeEach('cancel', ids, output, async (id) => {
        const { run, nodes } = await loom.runs.cancel(id, { reason: input.reason, wait: own.wait });
        if (run.kind === 'not-found') throw new TaskNotFoundError(id);
        if (run.kind === 'already-ended' && nodes.length === 0) {
          throw new CliError(EXIT.refused, `run ${id} has ended as ${run.state}`);
        }
        return `${run.kind}, with ${counted(nodes.length, 'node')}`;
      });
    },
    { flags: (command) => command.option('--wait', 'until everything has ended') },
  ),
};

/** `fairloom runs import`: of a file, so that it is no operation. */
export function addImport(program: Command, shell: Shell): void {
  const runs = program.commands.find((one) => one.name() === 'runs') ?? program.command('runs');
  runs
    .command('import <file>')
    .description('store an exported run, which goes on; - reads stdin')
    .option('--id <id>', 'the id of the new run')
    .option('--user <id>', 'the user whose turns it takes; default: as it was')
    .action((file: string, options: RunImportOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { id, user } = options;
        const [text] = await inputText(file === '-' ? file : `@${file}`, shell.stdin);
        const { id: stored, created } = await loom.runs.import(text, { id, user });
        const json = { id: stored, created } satisfies JsonShapes['runs import'];
        output.one({ json, id: stored, text: [stored] });
        return undefined;
      }),
    );
}

function explanationLines(explanation: RunExplanation, style: Style): readonly string[] {
  const { id, state, counts, waitsFor, causes, paused, command } = explanation;
  const shown = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const lines = waitsFor.flatMap(({ node, why }) =>
    why.obstacles.map(({ kind, text }) => `${shownNode(node)}: ${style.yellow(kind)}: ${text}`),
  );
  const text = [
    `${id} is ${stateText(state, style)}${paused === undefined ? '' : `, paused ${pauseText(paused)}`}`,
    ...causes.map((cause) => causeLine(cause, style)),
    ...(command === undefined ? [] : [style.dim(`  ${command}`)]),
    shown.join(', '),
    ...lines,
  ];
  return text.filter((line) => line !== '');
}

/** Where a run began not to finish. */
function causeLine({ node, attempt, cause, error }: RunCause, style: Style): string {
  const where = node === '' ? 'the run itself' : shownNode(node);
  const threw = error === undefined ? '' : `: ${namedLineOf(error)}`;
  const why = cause === undefined ? '' : ` (${causeText(cause)})`;
  return `${style.red(where)}, attempt ${attempt}${threw}${why}`;
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
