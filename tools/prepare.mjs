/**
 * Runs after `npm ci` and `npm install`: patches the compiler, so that it reports floating Effects, and builds the console,
 * the API reference, the programs and the templates of embedded databases.
 *
 * All but the last need development dependencies. After `npm ci --omit=dev` they are missing, and their steps do nothing.
 * It is JavaScript because the Node that runs it may be too old for TypeScript.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const isInstalled = (name) => existsSync(fileURLToPath(new URL(`../node_modules/${name}/package.json`, import.meta.url)))

const options = (directory) => ({
  stdio: "inherit",
  shell: process.platform === "win32",
  cwd: fileURLToPath(new URL(directory, import.meta.url))
})

/** Ends the installation if a program failed. */
const check = ({ error, status }) => {
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

if (isInstalled("@effect/tsgo")) check(spawnSync("effect-tsgo", ["patch", "--typescript"], options("..")))
else console.log("Development dependencies are not installed: the compiler is not patched")

/** Builds pages of the package of the console. */
const build = (...args) => check(spawnSync("vite", ["build", "--logLevel", "warn", ...args], options("../packages/console")))

if (isInstalled("@vitejs/plugin-react")) build()
else console.log("Development dependencies are not installed: the console is not built")

if (isInstalled("@scalar/api-reference")) build("--config", "reference/vite.config.ts")
else console.log("Development dependencies are not installed: the API reference is not built")

if (isInstalled("rolldown")) spawnSync("npm", ["run", "--silent", "programs"], options(".."))
else console.log("Development dependencies are not installed: the programs run from source")

const workspaces = ["@kinora/pglite", "@kinora/hosting"].flatMap((name) => ["--workspace", name])
const templates = spawnSync("npm", ["run", "--silent", "template", ...workspaces], options(".."))
if (templates.status !== 0) console.log("The templates of embedded databases are not built: a first start takes longer")
