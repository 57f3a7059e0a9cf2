// Copied beside the installed peers, so that names are looked up there.
export const load = (name) => import(name);
