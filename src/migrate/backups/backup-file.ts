import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import path from 'node:path';

/** The result of opening an archive in the configured folders. */
export type BackupFile =
  /** The caller closes the file. */
  | { readonly result: 'opened'; readonly file: FileHandle }
  | { readonly result: 'absent' }
  /** The path, or a link in it, leads out of every folder. A path that leads out of every folder is never looked up. */
  | { readonly result: 'outside' };

/**
 * Opens the archive with this path below one of the folders: the first folder that has it. Follows links before it compares the path with
 * the folders. Only a regular file is opened.
 *
 * @throws {NodeJS.ErrnoException} if a file exists and cannot be opened.
 */
export async function openBackupFile(file: string, folders: readonly string[]): Promise<BackupFile> {
  const inside = folders.filter((folder) => isBelow(path.resolve(folder, file), folder));
  const real = await Promise.all(folders.map(realPathOf));
  let isOutside = inside.length === 0;
  for (const folder of inside) {
    const target = await realPathOf(path.resolve(folder, file));
    if (target === undefined) continue;
    if (!real.some((one) => one !== undefined && isBelow(target, one))) {
      isOutside = true;
      continue;
    }
    // The file may have been replaced since the check above. With these flags, a link is not followed, and a named pipe is not waited for.
    const opened = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await opened.stat()).isFile()) return { result: 'opened', file: opened };
    await opened.close();
  }
  return { result: isOutside ? 'outside' : 'absent' };
}

function isBelow(target: string, folder: string): boolean {
  const relative = path.relative(folder, target);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** Returns the path without links. Undefined if nothing exists there. */
async function realPathOf(target: string): Promise<string | undefined> {
  try {
    return await realpath(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
