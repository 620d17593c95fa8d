/** What `locate` needs to know, from this machine and from VS Code. */

import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { locate, type Found } from "./locate";
import type { Settings } from "./settings";

/** What we use of the Python extension's interface. */
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(): { readonly path: string } | undefined;
    resolveEnvironment(path: unknown): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

export async function findForetype(settings: Settings): Promise<Found | undefined> {
  return locate(
    {
      command: settings.command,
      pythonPath: settings.pythonPath,
      path: process.env["PATH"] ?? "",
      activePython: vscode.workspace.isTrusted ? await activePython() : undefined,
      home: homedir(),
      windows: process.platform === "win32",
    },
    executable,
  );
}

/** The interpreter that is chosen in the Python extension; undefined where that isn't there or doesn't say. */
async function activePython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (!extension) {
    return undefined;
  }
  try {
    const environments = (await extension.activate()).environments;
    const active = environments?.getActiveEnvironmentPath();
    return active && (await environments?.resolveEnvironment(active))?.executable.uri?.fsPath;
  } catch {
    return undefined; // it's another extension's trouble
  }
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
