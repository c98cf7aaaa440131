#!/usr/bin/env node
import { keepCompiledModules } from "@kinora/hosting/CompileCache"
import { returnFreedMemory } from "@kinora/hosting/FreedMemory"

// Runs before the rest is loaded.
returnFreedMemory()
keepCompiledModules()
const [{ Process }, { workerCommand }] = await Promise.all([import("@kinora/hosting"), import("./command.ts")])
Process.runHost(workerCommand)
