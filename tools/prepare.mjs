/**
 * Runs after `npm ci` and `npm install`: patches the compiler, so that it reports floating Effects.
 *
 * The patch is a development dependency. After `npm ci --omit=dev` there is nothing to patch, and this does nothing.
 * It is JavaScript because the Node that runs it may be too old for TypeScript.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

if (existsSync(fileURLToPath(new URL("../node_modules/@effect/tsgo/package.json", import.meta.url)))) {
  const { error, status } = spawnSync("effect-tsgo", ["patch", "--typescript"], {
    stdio: "inherit",
    shell: process.platform === "win32"
  })
  if (error !== undefined) throw error
  process.exitCode = status ?? 1
} else {
  console.log("Development dependencies are not installed: the compiler is not patched")
}
