// Keeps a library of Scalar from compiling functions, which the policy of the page forbids. A file of its own, because it has to run before all modules.
globalThis.__zod_globalConfig = { jitless: true }
