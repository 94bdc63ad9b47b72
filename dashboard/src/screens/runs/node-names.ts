/** What nodes are called where people read it. */
import { shownNode } from '../../../../src/domain/task/node-name.ts';

/** Groups without a name have one of the graph's, which says nothing; what is in them is called after it. */
export function shortName(id: string): string {
  if (!id.startsWith('~')) return shownNode(id);
  return id.includes('/') ? id.replace(/^~(?:group\.)?/, '') : '';
}

/** Of one box, which has to be called something; inside of its group it need not say that again. */
export function nameIn(id: string, group: string | undefined): string {
  const isCalledAfter = group !== undefined && /^[./]/.test(id.slice(group.length));
  return isCalledAfter && id.startsWith(group)
    ? id.slice(group.length + 1)
    : id.replace(/^~(?:group\.)?/, '');
}
