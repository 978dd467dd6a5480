package main

import (
	"context"
	"io"

	"offcut/agent/attach"
	"offcut/agent/runner"
	"offcut/agent/tools"
	"offcut/models"
)

// attached tells models of the files that came with messages; see
// runner.Config.
func attached(files *tools.Files) func(models.Session, []models.Message, runner.ModelInfo) []models.Message {
	return func(session models.Session, history []models.Message, info runner.ModelInfo) []models.Message {
		model := attach.Model{Images: info.Images, ContextTokens: info.ContextTokens}
		return attach.Tell(history, model, func(path string) (io.ReadCloser, error) {
			file, _, err := files.Open(context.Background(), session.ID, path)
			if err != nil {
				return nil, err
			}
			return file, nil
		})
	}
}
