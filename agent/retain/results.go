package retain

import (
	"context"
	"errors"

	"offcut/agent"
	"offcut/models"
)

// readable reads the stored result of a call as if it were a kept copy, under
// the id that agent.ResultOutputID gives it.
type readable struct{ ReadStore }

func (r readable) Output(ctx context.Context, sessionID, id string) (models.RetainedOutput, error) {
	callID, ok := agent.CallOfOutputID(id)
	if !ok {
		return r.ReadStore.Output(ctx, sessionID, id)
	}
	call, result, err := r.result(ctx, sessionID, callID)
	if err != nil {
		return models.RetainedOutput{}, err
	}
	length := int64(len(result.Content))
	return models.RetainedOutput{
		ID: id, SessionID: sessionID, TurnID: result.TurnID, CallID: callID, Tool: call.Name,
		TotalBytes: length, RawBytes: length, Complete: whole(result.Metadata), CreatedAt: result.CreatedAt,
	}, nil
}

func (r readable) ReadOutput(ctx context.Context, sessionID, id string, stream models.OutputStream, offset int64, n int) ([]byte, error) {
	callID, ok := agent.CallOfOutputID(id)
	if !ok {
		return r.ReadStore.ReadOutput(ctx, sessionID, id, stream, offset, n)
	}
	_, result, err := r.result(ctx, sessionID, callID)
	if err != nil {
		return nil, err
	}
	from := min(offset, int64(len(result.Content)))
	return []byte(result.Content[from:min(from+int64(n), int64(len(result.Content)))]), nil
}

// result is the stored result of a call. What is not there is told in the words
// of a missing copy, so that nobody learns which calls a session has.
func (r readable) result(ctx context.Context, sessionID, callID string) (models.ToolCall, models.Message, error) {
	call, result, err := r.Call(ctx, sessionID, callID)
	if errors.Is(err, models.ErrNotFound) || (err == nil && result == nil) {
		err = models.Errorf(models.ErrNotFound, "output_not_found", "no such output in this session")
	}
	if err != nil {
		return models.ToolCall{}, models.Message{}, err
	}
	return call, *result, nil
}

// whole: a stored result is all that its tool returned.
func whole(meta *models.ResultMetadata) bool {
	switch {
	case meta == nil:
		return true
	case meta.Truncated: // it is a preview of a copy that is elsewhere, or gone
		return false
	case meta.Complete != nil:
		return *meta.Complete
	}
	return meta.Retention != models.RetentionFailed && len(meta.Reasons) == 0
}
