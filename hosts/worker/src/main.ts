#!/usr/bin/env node
import { returnFreedMemory } from "@kinora/hosting/FreedMemory"

// Before the rest is loaded.
returnFreedMemory()
const [{ Process }, { workerCommand }] = await Promise.all([import("@kinora/hosting"), import("./command.ts")])
Process.runHost(workerCommand)
