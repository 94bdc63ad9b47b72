/** What stands in the picture of a graph: nodes, groups that are folded, and groups that are open. */
import type { VNode } from 'preact';
import type { GraphStates, RunNodeInfo } from '../../api/shapes.ts';
import { Icon } from '../../parts/icon.tsx';
import { iconOf, toneOf } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { countText } from '../../words/numbers.ts';
import { type Box, MOST_CELLS } from './flat-graph.ts';
import type { PlacedBox } from './layout.ts';
import { nameIn, shortName } from './node-names.ts';

/** Of one box, or of a frame. */
export interface GroupProps {
  readonly box: PlacedBox;
  /** The group around it, after which it is called. */
  readonly frame: string | undefined;
  readonly states: GraphStates['states'];
  readonly known: ReadonlyMap<string, RunNodeInfo>;
  /** Folds it, or opens it. */
  readonly turn: () => void;
}

type State = RunNodeInfo['state'];

/** Of several states the one that says most. */
const LOUDEST: readonly State[] = [
  'failed',
  'started',
  'canceled',
  'queued',
  'scheduled',
  'deferred',
  'pending',
  'skipped',
  'gone',
  'finished',
];

/** Of a group without a state of its own, that of its members. */
export function stateOf({ id, members }: Box, states: GraphStates['states']): State {
  const own = states[id];
  if (own !== undefined || members.length === 0) return own ?? 'pending';
  const all = countsOf(members, states);
  return LOUDEST.find((state) => all.has(state)) ?? 'pending';
}

/** By how much they say. */
function countsOf(
  members: readonly string[],
  states: GraphStates['states'],
): ReadonlyMap<State, number> {
  const counts = new Map<State, number>();
  for (const id of members) {
    const state = states[id] ?? 'pending';
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return new Map(
    LOUDEST.flatMap((state) => {
      const count = counts.get(state);
      return count === undefined ? [] : [[state, count] as const];
    }),
  );
}

function stateWords(state: State): string {
  return state === 'skipped' ? 'did not start' : state;
}

/** One node, which leads to its task. */
export function NodeBox({ box, frame, states, known }: GroupProps): VNode {
  const state = stateOf(box, states);
  const info = known.get(box.id);
  const hasStarted = state !== 'skipped' && state !== 'pending' && state !== 'deferred';
  const kind = `node t-${toneOf(state)} ${hasStarted ? '' : 'hatched'} ${state === 'failed' ? 'is-cause' : ''}`;
  const inner = (
    <>
      <span class="node-name cut">{info?.member ?? nameIn(box.id, frame)}</span>
      <span class="node-state">
        <Icon name={iconOf(state)} size={12} />
        {stateWords(state)}
        {box.kind === 'each' ? ', each' : ''}
      </span>
    </>
  );
  if (info?.taskId === undefined) {
    return (
      <div class={kind} style={areaStyle(box)}>
        {inner}
      </div>
    );
  }
  return (
    <a class={kind} style={areaStyle(box)} href={linkTo('tasks', info.taskId)}>
      {inner}
    </a>
  );
}

/** Of one group. */
const MOST_SQUARES = 19;

/** How many of a group are where; opens it. */
export function FoldedBox({ box, frame, states, turn }: GroupProps): VNode {
  const state = stateOf(box, states);
  return (
    <button
      type="button"
      class={`node folded t-${toneOf(state)} ${state === 'failed' ? 'is-cause' : ''}`}
      style={areaStyle(box)}
      aria-expanded="false"
      data-group={box.id}
      onClick={turn}
    >
      <span class="node-name">
        <Icon name="right" size={12} />
        <span class="cut">{nameIn(box.id, frame)}</span> <span class="dim">{kindText(box)}</span>
      </span>
      <span class="squares" aria-hidden="true">
        {box.members.slice(0, MOST_SQUARES).map((id) => (
          <i key={id} class={`sq t-${toneOf(states[id] ?? 'pending')}`} />
        ))}
      </span>
      <span class="folded-counts">
        {[...countsOf(box.members, states)].map(([one, count]) => (
          <span key={one} class={`node-state t-${toneOf(one)}`}>
            <Icon name={iconOf(one)} size={12} />
            {countText(count)} {stateWords(one)}
          </span>
        ))}
      </span>
    </button>
  );
}

/** Its members in rows; the head folds them. */
export function GridBox({ box, states, known, turn }: GroupProps): VNode {
  const left = box.members.length - MOST_CELLS;
  return (
    <div class="frame" style={areaStyle(box)}>
      <FrameName box={box} turn={turn} note={left > 0 ? `${countText(left)} not drawn` : ''} />
      <ul class="cells">
        {box.members.slice(0, MOST_CELLS).map((id) => (
          <li key={id}>
            <Cell id={id} of={box.id} state={states[id] ?? 'pending'} info={known.get(id)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface CellProps {
  readonly id: string;
  /** Its group, after which it is called. */
  readonly of: string;
  readonly state: State;
  readonly info: RunNodeInfo | undefined;
}

function Cell({ id, of, state, info }: CellProps): VNode {
  const inner = (
    <>
      <Icon name={iconOf(state)} size={12} />
      <span class="cut">{info?.member ?? nameIn(id, of)}</span>
      <span class="sr">{stateWords(state)}</span>
    </>
  );
  const kind = `cell t-${toneOf(state)}`;
  return info?.taskId === undefined ? (
    <span class={kind}>{inner}</span>
  ) : (
    <a class={kind} href={linkTo('tasks', info.taskId)} title={`${id}, ${stateWords(state)}`}>
      {inner}
    </a>
  );
}

/** Around what is drawn by itself; its name folds it. */
export function Frame({ box, turn }: GroupProps): VNode {
  return (
    <div class="frame is-outer" style={areaStyle(box)}>
      <FrameName box={box} turn={turn} note="" />
    </div>
  );
}

interface FrameNameProps {
  readonly box: PlacedBox;
  readonly turn: () => void;
  readonly note: string;
}

function FrameName({ box, turn, note }: FrameNameProps): VNode {
  return (
    <button
      type="button"
      class="frame-name"
      aria-expanded="true"
      data-group={box.id}
      onClick={turn}
    >
      <Icon name="down" size={12} />
      <span class="cut">{shortName(box.id)}</span>
      <span class="dim">
        {kindText(box)} {note}
      </span>
    </button>
  );
}

/** As `parallel of 1,000`. */
function kindText({ kind, form, members }: PlacedBox): string {
  if (kind === 'each') return `each, ${countText(members.length)} open`;
  if (form === 'node') return kind;
  return kind === 'block'
    ? `${countText(members.length)} nodes`
    : `${kind} of ${countText(members.length)}`;
}

function areaStyle({ x, y, width, height }: PlacedBox): Readonly<Record<string, string>> {
  return { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
}
