/**
 * Runs after `npm ci` and `npm install`: patches the compiler, so that it reports floating Effects, and builds the console.
 *
 * Both need development dependencies. After `npm ci --omit=dev` they are missing, and this does nothing. It is JavaScript
 * because the Node that runs it may be too old for TypeScript.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const isInstalled = (name) => existsSync(fileURLToPath(new URL(`../node_modules/${name}/package.json`, import.meta.url)))

/** Runs a program of a dependency. A failure ends the installation with its exit code. */
const run = (program, args, cwd = "..") => {
  const { error, status } = spawnSync(program, args, {
    stdio: "inherit",
    shell: process.platform === "win32",
    cwd: fileURLToPath(new URL(cwd, import.meta.url))
  })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

if (isInstalled("@effect/tsgo")) run("effect-tsgo", ["patch", "--typescript"])
else console.log("Development dependencies are not installed: the compiler is not patched")

if (isInstalled("@vitejs/plugin-react")) run("vite", ["build", "--logLevel", "warn"], "../packages/console")
else console.log("Development dependencies are not installed: the console is not built")
