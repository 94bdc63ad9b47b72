import { compareUtf8 } from '../../../base/utf8-order.ts';
import { type AskFilter, type AskRecord, askPlace, askSets } from '../../../domain/task/ask.ts';
import { SortedList } from './sorted-list.ts';

/** Place of a question in listings. */
interface Listed {
  readonly key: string;
  readonly ask: AskRecord;
}

/** Open questions, the oldest first: of all users and of each, for any name and for each. */
export class OpenAsks {
  private readonly sets = new Map<string, SortedList<Listed>>();

  add(ask: AskRecord): void {
    for (const name of setsOf(ask)) {
      const set = this.sets.get(name) ?? new SortedList<Listed>(byKey);
      set.add({ key: askKey(ask), ask });
      this.sets.set(name, set);
    }
  }

  delete(ask: AskRecord): void {
    for (const name of setsOf(ask)) {
      const set = this.sets.get(name);
      const found = set?.find({ key: askKey(ask), ask });
      if (found !== undefined) set?.delete(found);
      if (set?.size === 0) this.sets.delete(name);
    }
  }

  /** Only those after `after`, which is the key of a question. */
  *of({ user = '', for: name = '' }: AskFilter, after: string | undefined): Generator<Listed> {
    const set = this.sets.get(setName(user, name));
    if (set === undefined) return;
    const isBefore = ({ key }: Listed): boolean =>
      after !== undefined && compareUtf8(key, after) <= 0;
    yield* set.from(set.countWhile(isBefore));
  }
}

/** Sort key of a question: the moment it was asked. */
function askKey({ id, askedAt }: AskRecord): string {
  const place = askPlace(id);
  return `${String(askedAt).padStart(16, '0')} ${place?.mark}.${place?.taskId}`;
}

function setsOf({ user, for: names }: AskRecord): readonly string[] {
  return askSets(user, names).map(([one, name]) => setName(one, name));
}

function setName(user: string, name: string): string {
  return `${user.length}:${user}${name}`;
}

/** Orders questions by the moment they were asked. */
function byKey(a: Listed, b: Listed): number {
  return compareUtf8(a.key, b.key);
}
