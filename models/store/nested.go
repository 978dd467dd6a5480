package store

import (
	"encoding/json"

	"offcut/models"

	"gorm.io/gorm"
)

// describeNested says in the answer to a script that was cut off what is kept
// of the calls that it had made.
func describeNested(tx *gorm.DB, sessionID, callID string, metadata *models.ResultMetadata) error {
	first, end := models.NestedCallIDs(callID)
	var rows []outputRow
	err := tx.Where("session_id = ? AND call_id >= ? AND call_id < ? AND deleted_at IS NULL", sessionID, first, end).Order("seq").Find(&rows).Error
	if err != nil {
		return err
	}
	for _, row := range rows {
		total, complete := row.TotalBytes, row.Complete
		metadata.Nested = append(metadata.Nested, models.NestedOutput{Tool: row.Tool, OutputID: row.ID, TotalBytes: &total, Complete: &complete})
		metadata.Calls = append(metadata.Calls, models.NestedCall{
			ID: row.CallID, Tool: row.Tool, Arguments: argumentsBy(row.Tool, row.Title), State: models.CallInterrupted,
			OutputID: row.ID, TotalBytes: &total, Complete: &complete,
		})
	}
	return nil
}

// argumentsBy are the arguments of a call as far as the title of its copy tells
// them.
func argumentsBy(tool, title string) string {
	name := "path"
	if tool == "run_command" {
		name = "command"
	}
	arguments, err := json.Marshal(map[string]string{name: title})
	if err != nil {
		return "{}" // a string always has a JSON form
	}
	return string(arguments)
}
