/** Drawings: what they show, and that no name breaks them. */
import { describe, expect, it } from 'vitest';
import { compile } from '../../src/workflow/compile.ts';
import { type Flow, flow } from '../../src/workflow/flow.ts';
import { toAscii } from '../../src/workflow/notation/render-ascii.ts';
import { toDot } from '../../src/workflow/notation/render-dot.ts';
import { toMermaid } from '../../src/workflow/notation/render-mermaid.ts';
import { each, parallel } from '../../src/workflow/parallel.ts';
import { dynamic } from '../../src/workflow/task-definition.ts';
import { read } from '../support/files.ts';
import { a, b, c, d, step } from './kit.ts';

const choose = dynamic('choose', async (n: unknown) => n);

const whole = a
  .pipe(parallel({ left: b, right: c.pipe(d) }, { policy: 'bestEffort' }))
  .pipe(choose)
  .pipe(each(a.as('item'), { name: 'all' }) as unknown as typeof a)
  .as('whole');

const states = new Map([
  ['a', 'finished'],
  ['b', 'started'],
  ['d', 'strange'],
]);

describe('toMermaid', () => {
  it('draws groups as frames and their ends as circles', () => {
    expect(toMermaid(whole)).toBe(`flowchart LR
  n0["a"]
  subgraph s1["parallel, best effort"]
    n1["b"]
    n2["c"]
    n3["d"]
    n4(( ))
  end
  n5{{"choose"}}
  subgraph s8["all #40;each#41;"]
    n6["all.item #40;a#41;"]
    n7(( ))
  end
  n0 --> n1
  n0 --> n2
  n2 --> n3
  n1 --> n4
  n3 --> n4
  n4 --> n5
  n5 --> n6
  n6 --> n7
`);
  });

  it('shows states', () => {
    const text = toMermaid(compile(whole), states);
    expect(text).toContain('n0["a: finished"]\n');
    expect(text).toContain('class n0 finished\n');
    expect(text).toContain('classDef started fill:#cfe4ff\n');
    expect(text).toContain('n3["d: strange"]\n');
    expect(text).not.toContain('classDef strange');
  });
});

describe('toDot', () => {
  it('draws groups as clusters', () => {
    expect(toDot(parallel({ a, b }).pipe(choose).as('g'), new Map([['a', 'failed']]))).toBe(
      `digraph "g" {
  rankdir=LR;
  node [shape=box];
  subgraph "cluster_~group.a" {
    label="parallel";
    "a" [label="a: failed", style=filled, fillcolor="#f8d0d0"];
    "b" [label="b"];
    "~group.a" [shape=point];
  }
  "choose" [label="choose", shape=hexagon];
  "a" -> "~group.a";
  "b" -> "~group.a";
  "~group.a" -> "choose";
}
`,
    );
  });
});

describe('toAscii', () => {
  it('draws one node per line', () => {
    expect(toAscii(whole, states)).toBe(`whole
|-- a [finished]
|-- parallel, best effort
|   |-- left: b [started]
|   \`-- right:
|       |-- c
|       \`-- d [strange]
|-- choose*
\`-- all (each)
    \`-- all.item (a)
`);
  });

  it('says what a node waits for when its place does not', () => {
    const built = flow('dag', (f: Flow<unknown>) => {
      const first = f.step(a, f.input);
      const second = f.step(b, f.input);
      const third = f.step(c, first);
      return f.step(d, [second, third]);
    });
    expect(toAscii(built)).toBe(`dag
|-- a
|-- b <- input
|-- c <- a
\`-- d <- b, c
`);
  });
});

describe('names', () => {
  const evil = '"]; x -->\n\u001b[2J\u202e<script>\\';

  it('of members and states break no drawing', () => {
    const drawn = parallel({ [evil]: a, b }, { policy: { critical: [evil] } })
      .as('g')
      .pipe(c);
    const shown = new Map([['c', evil]]);
    const ascii = toAscii(drawn, shown);
    const mermaid = toMermaid(drawn, shown);
    const dot = toDot(drawn, shown);
    expect(ascii).toContain('\\u{1b}[2J\\u{202e}');
    // No control character but the ends of lines, and nothing that turns the direction.
    expect(`${ascii}${mermaid}${dot}`).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(mermaid.split('\n').every((line) => /^( |flowchart|$)/.test(line))).toBe(true);
    expect(mermaid).not.toContain('<script>');
    // Outside of quoted strings nothing of it is left.
    expect(dot.replaceAll(/"(\\.|[^"\\])*"/g, '""')).not.toContain('script');
    expect(dot.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      expect.stringMatching(/^digraph /),
      '}',
    ]);
  });
});

it('docs/guide/workflows.md draws what these draw', () => {
  const [fetch, total, peak, publish] = ['fetch', 'total', 'peak', 'publish'].map(step);
  if (!fetch || !total || !peak || !publish) throw new Error('no steps');
  const report = fetch.pipe(parallel({ total, peak })).pipe(publish).as('report');
  const page = read('docs/guide/workflows.md');
  const seen = new Map([
    ['fetch', 'finished'],
    ['peak', 'started'],
    ['total', 'finished'],
  ]);
  expect(page).toContain(`\`\`\`text\n${toAscii(report, seen)}\`\`\``);
  expect(page).toContain(`\`\`\`mermaid\n${toMermaid(report)}\`\`\``);
});
