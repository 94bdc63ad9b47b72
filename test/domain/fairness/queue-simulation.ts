/** One queue with nothing but its fair index, built from the domain functions alone. */
import { compareUtf8 } from '../../../src/base/utf8-order.ts';
import {
  afterTurnPast,
  type ClassHead,
  chooseHead,
  enterTag,
  exactStep,
  keptTag,
  type Leaver,
  type QueueClock,
  rescaledTag,
  sharedClass,
  sharedStep,
  startOf,
  turn,
} from '../../../src/domain/fairness/fair-share.ts';
import { LIMITS } from '../../../src/domain/limits.ts';

interface SimUser {
  readonly name: string;
  weight: number;
  /** The weight that the tag is in turns of. */
  taggedBy: number;
  tag: number;
  epoch: number;
  ready: boolean;
  /** `e<weight>` or `s<power>` while ready. */
  group: string;
}

export class QueueSimulation {
  readonly clock: QueueClock = { v: 0, w: 0, epoch: 0 };
  readonly #users = new Map<string, SimUser>();
  readonly #groups = new Map<string, Set<SimUser>>();
  /** Those that left ahead, by name. */
  readonly #leavers = new Map<string, Leaver>();
  /** By group in use, what it remembers of the user that entered last. */
  readonly #lasts = new Map<string, number>();

  /** The user has work from now on; a weight is in hundredths. */
  enter(name: string, weight?: number): void {
    const user = this.#user(name, weight ?? 100);
    if (weight !== undefined) user.weight = weight;
    user.ready = true;
    this.#leavers.delete(name);
    this.clock.w += user.weight;
    this.#join(user);
  }

  /** The user has no work any more; when no user has, the queue starts anew. */
  leave(name: string): void {
    const user = this.#user(name, 100);
    if (!user.ready) return;
    user.ready = false;
    this.clock.w -= user.weight;
    this.#part(user);
    const start = startOf(user.tag, user.weight);
    if (start > this.clock.v) this.#leavers.set(name, { start, weight: user.weight });
    if (this.clock.w > 0) return;
    this.#leavers.clear();
    this.clock.v = 0;
    this.clock.epoch++;
  }

  reweigh(name: string, weight: number): void {
    const user = this.#user(name, weight);
    if (user.weight === weight) return;
    if (user.ready) {
      this.clock.w += weight - user.weight;
      this.#part(user);
    }
    user.weight = weight;
    if (user.ready) this.#join(user);
  }

  /** Serves one turn and names whose it was. */
  serve(cost = 1): string {
    const heads = this.#heads();
    const choice = chooseHead(heads, this.clock.v);
    const head = heads[choice?.index ?? -1];
    if (choice === undefined || head === undefined) throw new Error('no user is ready');
    const { user } = head;
    while (this.#passed(choice.v) !== undefined);
    this.clock.v = afterTurnPast(choice.v, cost, this.weights(), (to) => this.#passed(to));
    user.tag += turn(cost);
    return user.name;
  }

  /** W. */
  weights(): number {
    return [...this.#leavers.values()].reduce((sum, { weight }) => sum + weight, this.clock.w);
  }

  /** Takes the first of those that left out of W, if its tag is at most so far. */
  #passed(to: number): Leaver | undefined {
    let first: readonly [string, Leaver] | undefined;
    for (const one of this.#leavers) if (one[1].start < (first?.[1].start ?? Infinity)) first = one;
    if (first === undefined || first[1].start > to) return undefined;
    this.#leavers.delete(first[0]);
    return first[1];
  }

  /** Where its tag stands in virtual time. */
  startOf(name: string): number {
    const { tag, weight } = this.#user(name, 100);
    return startOf(tag, weight);
  }

  /** In grains of its own turns. */
  tagOf(name: string): number {
    return this.#user(name, 100).tag;
  }

  /** How many classes are in use, exact and shared. */
  classes(): number {
    return [...this.#groups.values()].filter((members) => members.size > 0).length;
  }

  #heads(): readonly Head[] {
    const heads: Head[] = [];
    for (const [group, members] of this.#groups) {
      let least: SimUser | undefined;
      for (const user of members) if (least === undefined || before(user, least)) least = user;
      if (least !== undefined) {
        heads.push({ user: least, start: startOf(least.tag, least.weight), step: stepOf(group) });
      }
    }
    return heads;
  }

  #join(user: SimUser): void {
    const exact = `e${user.weight}`;
    const known = (this.#groups.get(exact)?.size ?? 0) > 0;
    const inUse = [...this.#groups].filter(([key, members]) => key[0] === 'e' && members.size > 0);
    const isExact = known || inUse.length < LIMITS.weightClasses;
    user.group = isExact ? exact : `s${sharedClass(user.weight)}`;
    const members = this.#groups.get(user.group) ?? new Set();
    members.add(user);
    this.#groups.set(user.group, members);
    const { v } = this.clock;
    const kept = user.epoch === this.clock.epoch ? keptTag(user.tag, user.taggedBy, v) : 0;
    const scaled =
      user.taggedBy === user.weight ? kept : rescaledTag(kept, v, user.taggedBy, user.weight);
    const last = this.#lasts.get(user.group) ?? -1;
    const entry = enterTag(scaled, v, user.weight, last);
    user.tag = entry.tag;
    user.taggedBy = user.weight;
    user.epoch = this.clock.epoch;
    this.#lasts.set(user.group, isExact ? entry.last : last + 1);
  }

  #part(user: SimUser): void {
    const members = this.#groups.get(user.group);
    members?.delete(user);
    if (members?.size === 0) this.#lasts.delete(user.group);
  }

  #user(name: string, weight: number): SimUser {
    const known = this.#users.get(name);
    if (known !== undefined) return known;
    const user: SimUser = {
      name,
      weight,
      taggedBy: weight,
      tag: 0,
      epoch: -1,
      ready: false,
      group: '',
    };
    this.#users.set(name, user);
    return user;
  }
}

interface Head extends ClassHead {
  readonly user: SimUser;
}

function before(a: SimUser, b: SimUser): boolean {
  const distance =
    a.weight === b.weight ? a.tag - b.tag : startOf(a.tag, a.weight) - startOf(b.tag, b.weight);
  return distance < 0 || (distance === 0 && compareUtf8(a.name, b.name) < 0);
}

function stepOf(group: string): number {
  const number = Number(group.slice(1));
  return group.startsWith('e') ? exactStep(number) : sharedStep(number);
}
