/** One queue with nothing but its fair index, built from the domain functions alone. */
import { compareUtf8 } from '../../src/base/utf8-order.ts';
import {
  type ClassHead,
  chooseHead,
  enterTag,
  exactStep,
  type LaneClock,
  rescaledTag,
  sharedClass,
  sharedStep,
  turn,
} from '../../src/domain/fair-share.ts';
import { LIMITS } from '../../src/domain/limits.ts';

interface SimUser {
  readonly name: string;
  weight: number;
  tag: number;
  epoch: number;
  ready: boolean;
  /** `e<weight>` or `s<power>` while ready. */
  group: string;
}

export class LaneSimulation {
  readonly clock: LaneClock = { v: 0, w: 0, epoch: 0 };
  readonly #users = new Map<string, SimUser>();
  readonly #groups = new Map<string, Set<SimUser>>();

  /** The user has work from now on; a weight is in hundredths. */
  enter(name: string, weight?: number): void {
    const user = this.#user(name, weight ?? 100);
    if (weight !== undefined) user.weight = weight;
    user.tag = enterTag(this.clock, user.tag, user.epoch);
    user.epoch = this.clock.epoch;
    user.ready = true;
    this.clock.w += user.weight;
    this.#join(user);
  }

  /** The user has no work any more; when nobody has, the lane starts anew. */
  leave(name: string): void {
    const user = this.#user(name, 100);
    if (!user.ready) return;
    user.ready = false;
    this.clock.w -= user.weight;
    this.#groups.get(user.group)?.delete(user);
    if (this.clock.w > 0) return;
    this.clock.v = 0;
    this.clock.epoch++;
  }

  reweigh(name: string, weight: number): void {
    const user = this.#user(name, weight);
    if (user.ready) {
      user.tag = rescaledTag(user.tag, this.clock.v, user.weight, weight);
      this.clock.w += weight - user.weight;
      this.#groups.get(user.group)?.delete(user);
    }
    user.weight = weight;
    if (user.ready) this.#join(user);
  }

  /** Serves one turn and names whose it was. */
  serve(cost = 1): string {
    const heads = this.#heads();
    const choice = chooseHead(heads, this.clock.v);
    const head = heads[choice?.index ?? -1];
    if (choice === undefined || head === undefined) throw new Error('nobody is ready');
    const user = this.#user(head.user, 100);
    this.clock.v = choice.v + (cost * 100) / this.clock.w;
    user.tag += turn(cost, user.weight);
    return user.name;
  }

  tagOf(name: string): number {
    return this.#user(name, 100).tag;
  }

  /** How many classes are in use, exact and shared. */
  classes(): number {
    return [...this.#groups.values()].filter((members) => members.size > 0).length;
  }

  #heads(): readonly ClassHead[] {
    const heads: ClassHead[] = [];
    for (const [group, members] of this.#groups) {
      let least: SimUser | undefined;
      for (const user of members) if (least === undefined || before(user, least)) least = user;
      if (least !== undefined)
        heads.push({ user: least.name, tag: least.tag, step: stepOf(group) });
    }
    return heads.toSorted((a, b) => compareUtf8(a.user, b.user));
  }

  #join(user: SimUser): void {
    const exact = `e${user.weight}`;
    const known = (this.#groups.get(exact)?.size ?? 0) > 0;
    const inUse = [...this.#groups].filter(([key, members]) => key[0] === 'e' && members.size > 0);
    const room = known || inUse.length < LIMITS.weightClasses;
    user.group = room ? exact : `s${sharedClass(user.weight)}`;
    const members = this.#groups.get(user.group) ?? new Set();
    members.add(user);
    this.#groups.set(user.group, members);
  }

  #user(name: string, weight: number): SimUser {
    const known = this.#users.get(name);
    if (known !== undefined) return known;
    const user: SimUser = { name, weight, tag: 0, epoch: -1, ready: false, group: '' };
    this.#users.set(name, user);
    return user;
  }
}

function before(a: SimUser, b: SimUser): boolean {
  return a.tag < b.tag || (a.tag === b.tag && compareUtf8(a.name, b.name) < 0);
}

function stepOf(group: string): number {
  const number = Number(group.slice(1));
  return group.startsWith('e') ? exactStep(number) : sharedStep(number);
}
