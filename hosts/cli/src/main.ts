#!/usr/bin/env node
import { keepCompiledModules } from "@kinora/hosting/CompileCache"

// Before the rest is loaded.
keepCompiledModules()
const { runCommand } = await import("./command.ts")
runCommand()
