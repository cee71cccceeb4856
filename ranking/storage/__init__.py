"""The data folder: image sets, runs, features, answers, workspaces. Also the imports and workers that fill it."""
