/**
 * How far a sequence of leases is from the exact weighted shares, in turns. While a user is
 * backlogged each lease adds w/W to its exact share, W being the weights of the backlogged users,
 * and 1 to its own count when it was its turn. The deviation is the difference.
 *
 * A user that joins starts at 0 and leaves the others' figures as they are. One that runs dry
 * takes its own difference with it, so that the others' no longer add up to 0: then everybody
 * starts again at 0. The guarantee is about a set of users that stay backlogged.
 */
export class Deviation {
  readonly #users = new Map<string, { weight: number; turns: number; share: number }>();
  /** Sum of the weights of the backlogged users. */
  #total = 0;
  #max = 0;

  /** The largest deviation of any backlogged user after any lease so far, in turns. */
  get max(): number {
    return this.#max;
  }

  /** The user's deviation now: above 0 it is ahead of its share, below it is behind. */
  of(user: string): number {
    const account = this.#users.get(user);
    return account === undefined ? 0 : account.turns - account.share;
  }

  /** From now on these users are backlogged, with these weights; those that join may be ahead by so many turns. */
  backlogged(weights: ReadonlyMap<string, number>, ahead?: ReadonlyMap<string, number>): void {
    const left = [...this.#users.keys()].some((user) => !weights.has(user));
    if (left) this.#users.clear();
    this.#total = 0;
    for (const [user, weight] of weights) {
      const account = this.#users.get(user);
      const turns = ahead?.get(user) ?? 0;
      if (account === undefined) this.#users.set(user, { weight, turns, share: 0 });
      else account.weight = weight;
      this.#total += weight;
    }
  }

  /** This user was served one turn. */
  leased(user: string): void {
    const served = this.#users.get(user);
    if (served !== undefined) served.turns++;
    for (const account of this.#users.values()) {
      account.share += account.weight / this.#total;
      const deviation = Math.abs(account.turns - account.share);
      if (deviation > this.#max) this.#max = deviation;
    }
  }
}
