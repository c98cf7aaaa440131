/** Writes the licenses of the fonts of a build. */
import { readFile } from "node:fs/promises"
import type { Plugin } from "vite"

/** Adds `font-licenses.txt`: `build.license` lists the licenses of modules only. */
export const fontLicenses = (): Plugin => ({
  name: "font-licenses",
  apply: "build",
  async generateBundle() {
    const texts = await Promise.all(
      ["geist", "geist-mono"].map((font) =>
        readFile(new URL(import.meta.resolve(`@fontsource-variable/${font}/LICENSE`)), "utf8")
      )
    )
    this.emitFile({ type: "asset", fileName: "font-licenses.txt", source: texts.join("\n\n") })
  }
})
