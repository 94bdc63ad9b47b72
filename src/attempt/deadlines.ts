import { type Clock, elapsedMs, type Timer } from '../base/time.ts';

/**
 * Something with a deadline. The links are the list's own: a deadline is set and taken back with
 * every task, so it must cost neither a timer nor an object.
 */
export abstract class DeadlineNode {
  /** When it is due, on the clock; 0 while it stands in no list. */
  deadlineAt = 0;
  /** The list that it stands in, and its neighbours there. */
  deadlineList: DeadlineList | undefined;
  deadlineBefore: DeadlineNode | undefined;
  deadlineAfter: DeadlineNode | undefined;

  /** Called once, when the deadline has passed; it may set another. */
  abstract due(): void;
}

/** Nodes of one length of time: the newest is due last, so the order costs nothing. */
interface DeadlineList {
  first: DeadlineNode | undefined;
  last: DeadlineNode | undefined;
}

/** With so many lists the empty ones go. */
const MOST_LISTS = 32;

/** All deadlines of one worker behind a single timer. */
export class Deadlines {
  readonly #clock: Clock;
  /** One per length of time in use, by ms; there are few of those. */
  readonly #lists = new Map<number, DeadlineList>();
  /** Set for the earliest deadline, or an earlier moment when that one was taken back. */
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets the node's deadline, `ms` from now, in place of the one that it had. */
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

  /** Takes back the timer; deadlines that are left pass unnoticed. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  /** One that is empty is kept: the next task has the same timeout, most likely. */
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
