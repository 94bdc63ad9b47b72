/** The field of a journal in which the store counts redrives; nobody else writes it. */
export const REDRIVES = 'redrives';

/** The field of a task's journal that is there once nobody waits any more for the group that this task is a member of. */
export function givenUpField(member: string): string {
  return `${GIVEN_UP}${member.slice(GROUP_AT, GROUP_AT + GROUP_CHARS)}`;
}

/** Ids of members begin with `~g.` and so many characters that stand for their group. */
export const GROUP_CHARS = 22;
const GROUP_AT = '~g.'.length;
const GIVEN_UP = 'd:';
