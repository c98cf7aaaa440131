/**
 * Memory that the process has freed.
 *
 * Imports nothing, because a program calls it before it loads the rest.
 */

/**
 * Makes the allocator of glibc return freed blocks of 128 KiB and more to the system. Otherwise it raises this limit to
 * the size of the largest block that was freed, up to 32 MiB, and each thread that decodes images keeps hundreds of
 * megabytes.
 *
 * glibc reads the limit from `MALLOC_MMAP_THRESHOLD_` when a process starts. If it is unset, this function starts the
 * process again in its place, with the same id, standard streams and arguments, and does not return. Call it first. Does
 * nothing on other systems than Linux, for a process that exchanges messages with its parent, and for one that may not
 * start programs (`--permission`).
 */
export const returnFreedMemory = (): void => {
  if (process.platform !== "linux" || process.env[variable] !== undefined) return
  if (process.execve === undefined || process.channel !== undefined) return
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  try {
    process.execve(process.execPath, args, { ...process.env, [variable]: "131072" })
  } catch {
    // Not permitted. The process works without it.
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const variable = "MALLOC_MMAP_THRESHOLD_"
