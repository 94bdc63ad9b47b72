-- Nearly all calls end here.

local plainReplies = plainEnqueue()
if plainReplies then return plainReplies end
