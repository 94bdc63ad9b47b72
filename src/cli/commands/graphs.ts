import { type Command, Option } from 'commander';
import type { TaskGraph } from '../../graph/graph.ts';
import type { NodeStates } from '../../workflow/notation/drawing.ts';
import { toAscii } from '../../workflow/notation/render-ascii.ts';
import { toDot } from '../../workflow/notation/render-dot.ts';
import { toMermaid } from '../../workflow/notation/render-mermaid.ts';
import type { Output } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';

type Format = 'ascii' | 'mermaid' | 'dot';

const DRAWINGS: Readonly<Record<Format, (graph: TaskGraph, states: NodeStates) => string>> = {
  ascii: toAscii,
  mermaid: toMermaid,
  dot: toDot,
};

/** How a graph is drawn on a command line. */
export interface DrawOptions {
  readonly format: Format;
}

/** `fairloom graphs …` */
export function addGraphs(program: Command, shell: Shell): void {
  const graphs = program.command('graphs').description('graphs of workflows');
  withFormat(graphs.command('show <hash>'))
    .description('a stored graph, by the hash that its runs show')
    .action((hash: string, options: DrawOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        draw(output, { id: hash, graph: await loom.graphs.get(hash) }, options);
        return undefined;
      }),
    );
}

/** Adds `--format`. */
export function withFormat(command: Command): Command {
  return command.addOption(
    new Option('--format <format>', 'of the drawing')
      .choices(Object.keys(DRAWINGS))
      .default('ascii'),
  );
}

/** Draws a graph; in the forms for programs it is data. */
export function draw(
  output: Output,
  drawn: { readonly id: string; readonly graph: TaskGraph; readonly states?: NodeStates },
  { format }: DrawOptions,
): void {
  const { id, graph, states = new Map<string, string>() } = drawn;
  const text = DRAWINGS[format](graph, states).trimEnd().split('\n');
  output.one({ json: { graph, states: Object.fromEntries(states) }, id, text });
}
