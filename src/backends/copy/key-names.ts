import { USUAL_QUEUE } from '../redis/layout/keys.ts';

/** A key by what its name says. */
export interface KeyName {
  /** Without the prefix. */
  readonly name: string;
  readonly queue: string;
  /** What stands behind the family and its colon. */
  readonly rest: string;
}

/** All keys of a namespace by family, which is the first word of a name, behind the queue where there is one. */
export class KeyNames {
  readonly #families = new Map<string, KeyName[]>();
  count = 0;

  add(name: string): void {
    const [, queue, behind] = /^queue:([^:]+):(.*)$/s.exec(name) ?? [];
    const whole = behind ?? name;
    const colon = whole.indexOf(':');
    const family = colon < 0 ? whole : whole.slice(0, colon);
    const rest = colon < 0 ? '' : whole.slice(colon + 1);
    const known = this.#families.get(family);
    const found = { name, queue: queue ?? USUAL_QUEUE, rest };
    if (known === undefined) this.#families.set(family, [found]);
    else known.push(found);
    this.count++;
  }

  of(family: string): readonly KeyName[] {
    return this.#families.get(family) ?? [];
  }

  has(family: string): boolean {
    return this.#families.has(family);
  }
}
