/** What a programme of faults has come to. */

/** What may be wrong. */
export const WRONGS = ['lost', 'invented', 'damaged', 'answers', 'stuck', 'untyped'] as const;

type WrongKind = (typeof WRONGS)[number];

/** Codes with which calls, openings and closings may be refused. */
const TYPED: ReadonlySet<string> = new Set(['BACKEND_FULL', 'BACKEND_UNAVAILABLE']);

/** Something is not as it has to be. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
  readonly kind: WrongKind;

  constructor(kind: WrongKind, what: string) {
    super(what);
    this.kind = kind;
  }
}

/** A wrong, and how to come by it again. */
export interface Finding {
  readonly kind: WrongKind;
  readonly text: string;
}

/** Counts, and all that was wrong. */
export class Tally {
  histories = 0;
  calls = 0;
  /** Of all histories, without a fault. */
  operations = 0;
  segments = 0;
  readonly snapshots = { made: 0, forgotten: 0 };
  readonly faults = new Map<string, number>();
  /** Times that the data was read, after a fault or an end. */
  recoveries = 0;
  readonly refusals = new Map<string, number>();
  readonly findings: Finding[] = [];

  fault(kind: string): void {
    count(this.faults, kind);
  }

  /** `what`: a call, an opening, a closing. @throws {@link Wrong} */
  refusal(what: string, code: string): void {
    count(this.refusals, `${what} ${code}`);
    if (!TYPED.has(code)) throw new Wrong('untyped', `${what}: ${code}`);
  }

  wrongs(kind: WrongKind): number {
    return this.findings.filter((finding) => finding.kind === kind).length;
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
