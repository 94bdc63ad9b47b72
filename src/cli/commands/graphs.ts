import { Option } from 'commander';
import type { TaskGraph } from '../../graph/graph.ts';
import type { GraphStates } from '../../operations/answers.ts';
import type { NodeStates } from '../../workflow/notation/drawing.ts';
import { toAscii } from '../../workflow/notation/render-ascii.ts';
import { toDot } from '../../workflow/notation/render-dot.ts';
import { toMermaid } from '../../workflow/notation/render-mermaid.ts';
import { type Shown, shows } from '../terminal/operation-command.ts';
import { answerOf } from '../views/shown.ts';

type Format = 'ascii' | 'mermaid' | 'dot';

const DRAWINGS: Readonly<Record<Format, (graph: TaskGraph, states: NodeStates) => string>> = {
  ascii: toAscii,
  mermaid: toMermaid,
  dot: toDot,
};

interface DrawOptions {
  readonly format: Format;
}

/** A graph as a drawing; in the forms for programs it is data. */
export function drawn(name: 'graphs.show' | 'runs.graph', key: 'hash' | 'id'): Shown {
  return shows<Readonly<Record<string, unknown>>, DrawOptions>(
    async (call) => {
      const answer: GraphStates = await answerOf(name, call);
      const states = new Map(Object.entries(answer.states));
      const text = DRAWINGS[call.own.format](answer.graph, states).trimEnd().split('\n');
      call.output.one({ json: answer, id: String(call.input[key]), text });
      return undefined;
    },
    {
      flags: (command) =>
        command.addOption(
          new Option('--format <format>', 'of the drawing')
            .choices(Object.keys(DRAWINGS))
            .default('ascii'),
        ),
    },
  );
}
