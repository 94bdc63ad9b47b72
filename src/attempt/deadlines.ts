import { type Clock, elapsedMs, type Timer } from '../base/time.ts';

/**
 * Base class of objects with a deadline. It contains the links of the list: every task sets and
 * clears a deadline, so that must need neither a timer nor an allocation.
 */
export abstract class DeadlineNode {
  /** The deadline on the clock; 0 without one. */
  deadlineAt = 0;
  /** The list that contains it, and its neighbors there. */
  deadlineList: DeadlineList | undefined;
  deadlineBefore: DeadlineNode | undefined;
  deadlineAfter: DeadlineNode | undefined;

  /** Called once when the deadline has passed; it may set another. */
  abstract due(): void;
}

/** Nodes with one duration: a new node is due last, so appending keeps the order. */
interface DeadlineList {
  first: DeadlineNode | undefined;
  last: DeadlineNode | undefined;
}

/** From this number of lists on, empty ones are removed. */
const MOST_LISTS = 32;

/** All deadlines of one worker, with a single timer. */
export class Deadlines {
  readonly #clock: Clock;
  /** Lists by duration in ms; few durations are in use. */
  readonly #lists = new Map<number, DeadlineList>();
  /** Set for the earliest deadline, or earlier if that deadline was cleared. */
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets the node's deadline to `ms` from now; replaces an earlier one. */
  set(node: DeadlineNode, ms: number, now: number): void {
    this.clear(node);
    const list = this.#listOf(ms);
    node.deadlineAt = now + ms;
    node.deadlineList = list;
    node.deadlineBefore = list.last;
    if (list.last === undefined) list.first = node;
    else list.last.deadlineAfter = node;
    list.last = node;
    if (node.deadlineAt < this.#timerAt) this.#arm(node.deadlineAt);
  }

  clear(node: DeadlineNode): void {
    const { deadlineList: list, deadlineBefore: before, deadlineAfter: after } = node;
    if (list === undefined) return;
    if (before === undefined) list.first = after;
    else before.deadlineAfter = after;
    if (after === undefined) list.last = before;
    else after.deadlineBefore = before;
    node.deadlineAt = 0;
    node.deadlineList = undefined;
    node.deadlineBefore = undefined;
    node.deadlineAfter = undefined;
  }

  /** Stops the timer; remaining deadlines have no effect. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  /** Keeps an empty list: the next task probably has the same timeout. */
  #listOf(ms: number): DeadlineList {
    const known = this.#lists.get(ms);
    if (known !== undefined) return known;
    if (this.#lists.size >= MOST_LISTS) {
      for (const [key, { first }] of this.#lists) if (first === undefined) this.#lists.delete(key);
    }
    const list = { first: undefined, last: undefined };
    this.#lists.set(ms, list);
    return list;
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.#clock.setTimer(at - elapsedMs(this.#clock), this.#fire);
  }

  readonly #fire = (): void => {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = elapsedMs(this.#clock);
    for (const list of [...this.#lists.values()]) {
      for (let node = list.first; node !== undefined && node.deadlineAt <= now; node = list.first) {
        this.clear(node);
        node.due();
      }
    }
    let earliest = Number.POSITIVE_INFINITY;
    for (const { first } of this.#lists.values()) {
      if (first !== undefined && first.deadlineAt < earliest) earliest = first.deadlineAt;
    }
    if (earliest < this.#timerAt) this.#arm(earliest);
  };
}
