/** Writes compressed variants of files when they are built, so that the server never compresses them. */
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import type { Plugin } from "vite"

/** Options of the plugin. */
export interface PrecompressOptions {
  /** Brotli quality, at most 11. Default 11. */
  readonly quality?: number
}

/** Adds the variants `.br` and `.gz` of every text file. */
export const precompress = ({ quality = constants.BROTLI_MAX_QUALITY }: PrecompressOptions = {}): Plugin => ({
  name: "precompress",
  apply: "build",
  async writeBundle({ dir = "" }) {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true })
    await Promise.all(
      entries
        .filter((entry) => entry.isFile() && /\.(js|css|html|svg)$/.test(entry.name))
        .map((entry) => compress(join(entry.parentPath, entry.name), quality))
    )
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const compress = async (path: string, quality: number): Promise<void> => {
  const bytes = await readFile(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  await Promise.all([
    promisify(brotliCompress)(bytes, { params }).then((compressed) => writeFile(`${path}.br`, compressed)),
    promisify(gzip)(bytes, { level: 9 }).then((compressed) => writeFile(`${path}.gz`, compressed))
  ])
}
